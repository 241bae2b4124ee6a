"""The gunicorn settings for `wsgi:app`."""

import os
import signal
import sys
import tempfile
from functools import partial
from typing import NoReturn

# Use memory if possible: the kernel kills a process that writes to a memory-mapped file
# on a full disk. S108 does not apply: mkdtemp and mkstemp create private files there.
SHARED_MEMORY = "/dev/shm"  # noqa: S108
memory = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None

# prometheus-client reads this variable when it is imported.
has_own_directory = "PROMETHEUS_MULTIPROC_DIR" not in os.environ
if has_own_directory:
    directory = tempfile.mkdtemp(prefix=f"petstore-metrics-{os.getpid()}-", dir=memory)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from petstore.api.last_used import last_used
from petstore.checks import startup_warnings
from petstore.database import counters, data, open_databases
from petstore.edge import balancing
from petstore.migrator import NotMigrated, require_migrated
from petstore.ops import health, metric_files
from petstore.settings import SettingError, read_settings


def refuse(error: Exception) -> NoReturn:
    """Exit with a one-line error message for the operator."""
    metric_files.discard()
    sys.exit(f"Error: {error}")


try:
    settings = read_settings()
except SettingError as error:
    refuse(error)

bind = f"0.0.0.0:{settings.port}"
workers = settings.workers
worker_class = "petstore.edge.worker.EdgeWorker"
worker_connections = 16_384  # fewer if the system limits open files to fewer
# This is longer than reverse proxies keep idle connections, so the proxy closes them
# first. If the service closed a connection while a proxy sends a POST on it, the POST
# would be lost, because the proxy must not retry it.
keepalive = 75
worker_tmp_dir = memory

# Only the application decides which proxies are trusted (PETSTORE_TRUSTED_PROXIES).
forwarded_allow_ips = ""
forwarder_headers = ""
control_socket_disable = True


# Reset the signal handlers that a worker inherits from the master. Otherwise it would
# lose a signal that arrives before it installs its own.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    forget = partial(signal.signal, number, signal.SIG_DFL)
    os.register_at_fork(after_in_child=forget)


def on_starting(server: Arbiter) -> None:
    """Refuse to start if the database is not migrated, and log warnings."""
    open_databases(settings)
    try:
        require_migrated()
        for warning in startup_warnings(settings, server.cfg.address):
            server.log.warning(warning)
    except NotMigrated as error:
        refuse(error)
    finally:
        data.disconnect()
        counters.disconnect()


def post_worker_init(worker: Worker) -> None:
    """Have the worker connect to the stores before it accepts clients."""
    worker.warm_up = partial(health.warm_up, worker.wsgi)


def child_exit(server: Arbiter, worker: Worker) -> None:
    """Keep the metrics of a worker that has exited, and delete its files."""
    balancing.clear(worker.age)
    try:
        metric_files.sweep(worker.pid)
    except Exception:
        # An exception here would stop the master, and with it the service.
        server.log.exception("The counts of a dead worker could not be kept.")


def worker_exit(server: Arbiter, worker: Worker) -> None:
    """Write the times of last use of keys that the worker has not written yet."""
    last_used.flush()


def on_exit(server: Arbiter) -> None:
    """Delete the metric files, unless a new master was given the same directory."""
    if has_own_directory or not server.reexec_pid:
        metric_files.discard()
