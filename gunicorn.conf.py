"""How gunicorn serves `wsgi:app`."""

import os
import sys
import tempfile
from functools import partial
from typing import NoReturn

# In memory, where there is such a place: whoever writes into a file that is mapped is
# killed when the disk turns out to be full. (ruff: every file there is our own.)
SHARED_MEMORY = "/dev/shm"  # noqa: S108
memory = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None

# prometheus-client looks for this directory when it is imported.
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    directory = tempfile.mkdtemp(prefix=f"petstore-metrics-{os.getpid()}-", dir=memory)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from petstore.api.last_used import last_used
from petstore.checks import startup_warnings
from petstore.database import counters, data, open_databases
from petstore.edge import shares
from petstore.migrator import NotMigrated, require_migrated
from petstore.ops import health, metric_files
from petstore.settings import SettingError, read_settings


def refuse(error: Exception) -> NoReturn:
    """End with one line for the operator."""
    metric_files.discard()
    sys.exit(f"Error: {error}")


try:
    settings = read_settings()
except SettingError as error:
    refuse(error)

bind = f"0.0.0.0:{settings.port}"
workers = settings.workers
worker_class = "petstore.edge.worker.EdgeWorker"
worker_connections = 16_384  # at most; fewer where the system allows fewer descriptors
# Longer than proxies keep an idle connection, so that it is they who close it: a POST
# that meets a closing one is lost, since nobody may send it again.
keepalive = 75
worker_tmp_dir = memory

# Only the application decides which proxies are believed (PETSTORE_TRUSTED_PROXIES).
forwarded_allow_ips = ""
forwarder_headers = ""
control_socket_disable = True


def on_starting(server: Arbiter) -> None:
    """Refuse a database that is not migrated, and say what is open to too many."""
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
    """Let a worker reach its stores before a client has to wait for that."""
    worker.warm_up = partial(health.warm_up, worker.wsgi)


def child_exit(server: Arbiter, worker: Worker) -> None:
    """Keep what a dead worker has counted, without its files."""
    shares.withdraw(worker.age)
    try:
        metric_files.sweep(worker.pid)
    except Exception:
        # It would end the master, and with it the service.
        server.log.exception("The counts of a dead worker could not be kept.")


def worker_exit(server: Arbiter, worker: Worker) -> None:
    """Write what a worker that ends in peace still has to write."""
    last_used.flush()


def on_exit(server: Arbiter) -> None:
    """Take the files of the workers away, unless a new master has inherited them."""
    if not server.reexec_pid:
        metric_files.discard()
