"""What gunicorn calls when the service and its workers start and end.

Like wsgi.py, this is an entry to the service: it stands above all other modules, and
only gunicorn.conf.py imports it. gunicorn imports that before it knows the class of its
workers, which may be one that patches the standard library. So the hooks themselves
import the service, when that is done. Gunicorn's master keeps them after a reload.
"""

import errno
import os
import shutil
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

# Its locks are held for a moment only, so they need not be those of gevent, each of
# which takes as long as the count that it protects.
from prometheus_client import values

TRIES, PAUSE_SECONDS = 50, 0.1  # a service that ends may take a moment
# systemd or an earlier master hands over sockets that listen already.
HANDED_OVER = {"LISTEN_FDS", "GUNICORN_FD"}

MASTER = os.getpid()
METRICS = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
# gunicorn.conf.py has made the directory if it is named after this process.
IS_OWN_DIRECTORY = METRICS.name.startswith(f"petstore-metrics-{MASTER}-")

_place = 0  # among the workers that run; the master itself has 0

# Reset the signal handlers that a worker inherits from the master. Otherwise it would
# lose a signal that arrives before it installs its own.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    os.register_at_fork(after_in_child=partial(signal.signal, number, signal.SIG_DFL))


def on_starting(server: Arbiter) -> None:
    """Refuse to start if the database is not migrated or a port is in use; warn."""
    from petstore import log
    from petstore.cli.checks import startup_warnings
    from petstore.monitoring import metrics
    from petstore.settings import read_settings
    from petstore.storage import migrator, open_databases, opened_databases

    with suppress(OSError):
        metrics.make_directory()
    if not os.access(METRICS, os.W_OK | os.X_OK):
        _refuse(f"{metrics.DIRECTORY}: {METRICS} must be a directory to write to")
    settings = read_settings()
    open_databases(settings)
    try:
        migrator.require_migrated()
        # With `reuse_port`, others may listen there, too.
        if not server.cfg.reuse_port and not HANDED_OVER & os.environ.keys():
            for address in server.cfg.address:
                if isinstance(address, tuple):
                    _require_free(address)
        for warning in startup_warnings(settings, server.cfg.address):
            server.log.warning(warning)
    except (migrator.NotMigrated, OSError) as error:
        _refuse(error)
    finally:
        opened_databases().close()
    log.capture_prints()  # not before: what refuses the start is for the operator


def pre_fork(server: Arbiter, worker: Worker) -> None:
    """Give a new worker the place, and the metric files, of one that has ended.

    /metrics reads the files of all workers that ever were, so they must stay few.
    """
    global _place
    taken = {each.place for each in server.WORKERS.values()}
    _place = worker.place = min({*range(1, len(taken) + 2)} - taken)


def post_worker_init(worker: Worker) -> None:
    """Open the metric files, and connect to the stores."""
    from petstore.monitoring import health, metrics

    try:
        metrics.make_directory()
        metrics.open_files()
    except OSError:
        worker.log.exception("The worker starts without metrics.")
    health.warm_up(worker.wsgi)


def worker_exit(server: Arbiter, worker: Worker) -> None:
    """Write what requests have noted and the worker has not written yet."""
    from petstore.models.requests import failures, uses

    failures.flush()
    uses.flush()


def on_exit(_server: Arbiter | None = None) -> None:
    """Delete the directory if this master has made it, else the workers' files."""
    if IS_OWN_DIRECTORY:
        shutil.rmtree(METRICS, ignore_errors=True)
    for file in METRICS.glob(f"*_{MASTER}-*.db"):
        file.unlink(missing_ok=True)


def _refuse(error: Exception | str) -> NoReturn:
    """Exit with a one-line error message for the operator."""
    on_exit()
    sys.exit(f"Error: {error}")


def _require_free(address: tuple[str, int]) -> None:
    """Raise an `OSError` that names the address if the service cannot listen there.

    Gunicorn itself tries five times, and logs two lines for each try.
    """
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    for _ in range(TRIES):
        try:
            return socket.create_server(address, family=family).close()
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                fault = os.strerror(error.errno or 0)
                raise OSError("{}:{}: {}".format(*address, fault)) from None
        time.sleep(PAUSE_SECONDS)
    raise OSError(
        "{}:{} is in use: stop what listens there, or choose another port"
        " with PORT or --bind".format(*address)
    )


def _name_of_metric_files() -> str:
    """Return what the names of this process's files contain."""
    return f"{MASTER}-{0 if os.getpid() == MASTER else _place}"


values.ValueClass = values.MultiProcessValue(_name_of_metric_files)
