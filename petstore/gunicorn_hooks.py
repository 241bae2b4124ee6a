"""What gunicorn calls when the service and its workers start and end.

Like wsgi.py, this is an entry to the service: it stands above all other modules, and
only gunicorn.conf.py imports it. Gunicorn's master imports it once, and keeps it after
a reload.
"""

import os
import re
import shutil
import signal
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from petstore import waiting
from petstore.cli.checks import startup_warnings
from petstore.events import streams
from petstore.models import imports
from petstore.models.failed_requests import failure_queue
from petstore.models.key_usage import key_notes
from petstore.monitoring import health, metrics
from petstore.server import addresses, balancing, leftovers
from petstore.settings import SettingError, Settings, read_settings
from petstore.storage import db, migrator, open_databases, opened_databases

METRICS = Path(os.environ[metrics.DIRECTORY])
# gunicorn.conf.py has made the directory if it is named after this process.
OWN_NAME = rf"petstore-metrics-{os.getpid()}-\w{{8}}"
IS_OWN_DIRECTORY = re.fullmatch(OWN_NAME, METRICS.name) is not None
if IS_OWN_DIRECTORY:
    leftovers.lock(METRICS)

_workers: list[Worker] = []  # that run
_ended_workers: set[int] = set()  # whose metric files nobody goes on with

_waiting_streams = streams.never_wait(partial(metrics.count_event, "log_line_dropped"))

# Reset the signal handlers that a worker inherits from the master. Otherwise it would
# lose a signal that arrives before it installs its own.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    os.register_at_fork(after_in_child=partial(signal.signal, number, signal.SIG_DFL))


def read_settings_or_exit() -> Settings:
    """Return the settings; exit if one is not valid."""
    with suppress(OSError):
        metrics.make_directory()
    if not os.access(METRICS, os.W_OK | os.X_OK):
        _refuse(f"{metrics.DIRECTORY}: {METRICS} must be a directory to write to")
    try:
        return read_settings()
    except SettingError as error:
        _refuse(error)


def on_starting(server: Arbiter) -> None:
    """Refuse to start if the database is not migrated or a port is in use; warn."""
    if IS_OWN_DIRECTORY:
        leftovers.delete(METRICS.parent)
    settings = read_settings()
    open_databases(settings)
    try:
        migrator.require_migrated()
        if not server.cfg.reuse_port:  # then others may listen there, too
            addresses.require_free(server.cfg.address)
        for warning in startup_warnings(settings, server.cfg.address):
            server.log.warning(warning)
        for name in _waiting_streams:
            server.log.warning(f"{name}: the service stops while its reader pauses")
    except (migrator.NotMigrated, OSError) as error:
        _refuse(error)
    finally:
        opened_databases().close()
        waiting.stop_event_loop()


def pre_fork(server: Arbiter, worker: Worker) -> None:
    """Choose an ended worker in whose metric files the new one goes on counting.

    /metrics reads the files of all workers that ever were, so they must stay few.
    """
    running = {each.pid for each in _workers}
    worker.predecessor = next(iter(_ended_workers - running), None)
    _ended_workers.discard(worker.predecessor)
    _workers.append(worker)


def _take_over_files() -> None:
    if _workers and (ended := _workers[-1].predecessor):
        with suppress(OSError):
            metrics.take_over_files(ended)


# A worker may count a line that is dropped before any hook of gunicorn.
os.register_at_fork(after_in_child=_take_over_files)


def post_worker_init(worker: Worker) -> None:
    """Open the metric files, and have the worker first connect to the stores."""
    try:
        metrics.make_directory()
        metrics.open_files()
    except OSError:
        worker.log.exception("The worker starts without metrics.")
    worker.warm_up = partial(_warm_up, worker)


def _warm_up(worker: Worker) -> None:
    health.warm_up(worker.wsgi)
    imports.begin()


def worker_exit(server: Arbiter, worker: Worker) -> None:
    """Write what requests have noted and the worker has not written yet."""
    # A write that the event loop has not finished would keep the database locked.
    db.dispose()
    failure_queue.flush()
    key_notes.flush()


def child_exit(server: Arbiter, worker: Worker) -> None:
    """Record that a worker has exited; its counts remain part of the metrics."""
    balancing.clear(worker.age)
    _workers.remove(worker)
    # It may have been killed before it took over all files of its predecessor.
    pids = {worker.pid, worker.predecessor}
    _ended_workers.update(pid for pid in pids if metrics.files_of(pid))


def on_exit(server: Arbiter) -> None:
    """Delete the metric files of the service."""
    _delete_metrics()


def _refuse(error: Exception | str) -> NoReturn:
    """Exit with a one-line error message for the operator."""
    _delete_metrics()
    sys.exit(f"Error: {error}")


def _delete_metrics() -> None:
    """Delete the directory if this master has made it, else the workers' files."""
    if IS_OWN_DIRECTORY:
        shutil.rmtree(METRICS, ignore_errors=True)
    for pid in (*_ended_workers, os.getpid()):
        for file in metrics.files_of(pid):
            with suppress(OSError):
                file.unlink()
