"""The files of the metrics, which gunicorn's master makes for its workers."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from petstore.settings import MEMORY, read_settings

METRICS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
try:
    if given := read_settings().metrics_directory:
        os.makedirs(given, exist_ok=True)
    # In memory if possible: a process that writes to a memory-mapped file waits for a
    # slow disk.
    METRICS = tempfile.mkdtemp(prefix="petstore-metrics-", dir=given or MEMORY)
except OSError as error:
    sys.exit(f"Error: {METRICS_VARIABLE}: {error}")
os.environ[METRICS_VARIABLE] = METRICS
# Gunicorn restores the variable before a reload, and a new master (SIGUSR2) makes its
# own directory.
RAW_ENV = f"{METRICS_VARIABLE}={METRICS}"
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
    """Give the directory to the user that the workers run as."""
    os.chown(METRICS, server.cfg.uid, server.cfg.gid)


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
    """Let a new worker count in its files, which it must not delete when it ends."""
    values.ValueClass = values.MutexValue
    if worker in _numbers:
        values.ValueClass = values.MultiProcessValue(lambda: _numbers[worker])
    atexit.unregister(shutil.rmtree)


def child_exit(_server: Arbiter, worker: Worker) -> None:
    """Keep the counts of a worker that has ended, but not its live gauges."""
    if worker in _numbers:
        multiprocess.mark_process_dead(_numbers.pop(worker))
