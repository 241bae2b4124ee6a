"""The files in which the workers of one gunicorn share their counters.

prometheus-client writes one file for each process, and reads it even after the process
has ended. This module adds up the files of dead workers in one.
"""

import fcntl
import glob
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, Metric, generate_latest
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"


def render() -> bytes:
    """Return all counters of all workers, or of the only process."""
    if DIRECTORY not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    registry.register(_Files())
    with _locked(fcntl.LOCK_SH):
        return generate_latest(registry)


def sweep(pid: int) -> None:
    """Add the counters of a dead worker to those of earlier ones."""
    with _locked(fcntl.LOCK_EX):
        for file in glob.glob(f"{os.environ[DIRECTORY]}/*_{pid}.db"):
            _merge(Path(file), Path(file.replace(f"_{pid}.db", "_dead.db")))


def discard() -> None:
    """Delete the directory when the service has ended."""
    shutil.rmtree(os.environ[DIRECTORY], ignore_errors=True)


class _Files:
    """The collector of all files."""

    def collect(self) -> Iterable[Metric]:
        files = Path(os.environ[DIRECTORY]).glob("*.db")
        # A file is empty for a moment when a worker has just made it.
        names = [str(file) for file in files if file.stat().st_size]
        metrics: Iterable[Metric] = MultiProcessCollector.merge(names)
        return metrics


def _merge(source: Path, target: Path) -> None:
    # A worker that was killed while it made its file has left it empty.
    if source.stat().st_size:
        counts = MmapedDict.read_all_values_from_file(str(source))
        total = MmapedDict(str(target))
        for key, value, timestamp, _ in counts:
            total.write_value(key, total.read_value(key)[0] + value, timestamp)
        total.close()
    source.unlink()


@contextmanager
def _locked(lock: int) -> Iterator[None]:
    # A cleaner of temporary files may have deleted the directory.
    directory = Path(os.environ[DIRECTORY])
    directory.mkdir(mode=0o700, exist_ok=True)
    # A scrape must not find a counter in both files, nor in neither.
    with Path(directory, "lock").open("a") as file:
        fcntl.flock(file, lock)
        yield
