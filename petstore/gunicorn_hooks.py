"""What gunicorn calls when the service and its workers start and end.

Like wsgi.py, this module is an entry to the service: only gunicorn.conf.py imports it.
Gunicorn's master imports it before the worker class has patched the standard library,
and keeps it after a reload. So each hook imports what it needs of the service itself.
"""

import atexit
import os
import shutil
import signal
import socket
import sys
import tempfile
from errno import EACCES, EADDRINUSE
from pathlib import Path

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from petstore.settings import MEMORY, SettingError, read_settings, unknown_settings

METRICS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
try:
    settings = read_settings()
    if given := settings.metrics_directory:
        os.makedirs(given, exist_ok=True)
    # In memory if possible: a process that writes to a memory-mapped file waits for a
    # slow disk.
    METRICS = tempfile.mkdtemp(prefix="petstore-metrics-", dir=given or MEMORY)
except SettingError as error:
    sys.exit(f"Error: {error}")
except OSError as error:
    sys.exit(f"Error: {METRICS_VARIABLE}: {error}")
os.environ[METRICS_VARIABLE] = METRICS
atexit.register(shutil.rmtree, METRICS, ignore_errors=True)

# prometheus_client reads the variable when it is imported. It is imported before gevent
# replaces locks: a lock of gevent would cost as much as a count, and prometheus_client
# holds its locks only for a moment.
from prometheus_client import multiprocess, values

METRICS_KINDS = ("counter", "histogram")
# Each running worker has a number, which is in the names of its files. A new worker
# gets the number and the files of one that has ended, so there are never more files.
_numbers: dict[Worker, int] = {}


def on_starting(server: Arbiter) -> None:
    """Refuse to start if nothing could be served rightly; warn of what may be wrong."""
    from petstore.server.worker import open_files
    from petstore.storage import migrator
    from petstore.storage.database import close_databases, open_databases
    from petstore.timeouts import LIMITS

    _require_worker(server)
    _require_free_ports(server)
    os.chown(METRICS, server.cfg.uid, server.cfg.gid)  # which the workers run as
    for warning in unknown_settings():
        server.log.warning(warning)
    if (limit := open_files()) <= LIMITS.spare_descriptors:
        server.log.warning(
            f"a worker may open {limit} files, and needs {LIMITS.spare_descriptors} "
            "beside its connections; it may close these unanswered; raise the limit "
            "(ulimit -n)"
        )
    open_databases(settings)
    try:
        migrator.require_migrated()
    except migrator.NotMigrated as error:
        sys.exit(f"Error: {error}")
    finally:
        close_databases()


def _require_worker(server: Arbiter) -> None:
    """Exit if the workers would patch the standard library too late.

    What is imported by now has seen the library as it was: all greenlets of a worker
    would share one connection to the database, and its transaction.
    """
    from petstore.server.worker import Worker as OwnWorker

    patch = getattr(server.worker_class, "patch", OwnWorker.patch)
    if patch is not OwnWorker.patch:
        name = server.cfg.worker_class_str
        advice = "leave the worker class to gunicorn.conf.py, or take gthread"
        sys.exit(f"Error: workers of the class {name} would mix requests up; {advice}.")


def _require_free_ports(server: Arbiter) -> None:
    """Exit if a port is taken; gunicorn would try it again for five seconds."""
    if server.cfg.reuse_port or {"GUNICORN_FD", "LISTEN_FDS"} & os.environ.keys():
        return  # the port is shared, or its socket is inherited
    for host, port in filter(lambda each: isinstance(each, tuple), server.cfg.address):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                advice = "set PORT to another number, like 8080"
                if error.errno not in (EADDRINUSE, EACCES):
                    advice = "bind to an address of this machine"
                sys.exit(f"Error: {host}:{port}: {error.strerror}; {advice}.")


def pre_fork(server: Arbiter, worker: Worker) -> None:
    """Make the files for the metrics of a new worker.

    If there is no room for them, the worker serves without metrics.
    """
    from petstore.timeouts import LIMITS

    number = min({*range(len(_numbers) + 1)} - {*_numbers.values()})
    new = Path(METRICS, "new")
    try:
        for path in (Path(METRICS, f"{kind}_{number}.db") for kind in METRICS_KINDS):
            if not path.exists():
                new.write_bytes(bytes(LIMITS.metrics_bytes))
                os.chown(new, server.cfg.uid, server.cfg.gid)
                new.rename(path)
        _numbers[worker] = number
    except OSError as error:
        new.unlink(missing_ok=True)
        server.log.warning(f"a worker starts without metrics, in {METRICS}: {error}")


def post_fork(_server: Arbiter, worker: Worker) -> None:
    """Let a new worker count in its files, and undo what it inherits from the master.

    The worker must not delete the metrics when it ends. With the signal handlers of the
    master, it would lose a signal that arrives before it has handlers of its own.
    """
    values.ValueClass = values.MutexValue
    if worker in _numbers:
        values.ValueClass = values.MultiProcessValue(lambda: _numbers[worker])
    atexit.unregister(shutil.rmtree)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def worker_exit(_server: Arbiter, _worker: Worker) -> None:
    """Write the records of requests that the worker has not written yet."""
    from petstore.models import flush_queues

    flush_queues()


def child_exit(_server: Arbiter, worker: Worker) -> None:
    """Keep the counts of a worker that has ended, but not its live gauges."""
    if worker in _numbers:
        multiprocess.mark_process_dead(_numbers.pop(worker))
