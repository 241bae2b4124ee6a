"""The files in which the workers of one gunicorn share what they have counted.

prometheus-client gives each process a file of its own, which is read after its
death too; those of dead workers are added up into one here.
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
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"


def render() -> bytes:
    """Everything counted so far, by all workers or by the one process there is."""
    if DIRECTORY not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    registry.register(_Files())
    with _alone(fcntl.LOCK_SH):
        return generate_latest(registry)


def sweep(pid: int) -> None:
    """Add the counts of a dead worker to those of its predecessors."""
    with _alone(fcntl.LOCK_EX):
        mark_process_dead(pid)
        for file in glob.glob(f"{os.environ[DIRECTORY]}/*_{pid}.db"):
            _merge(Path(file), Path(file.replace(f"_{pid}.db", "_dead.db")))


def discard() -> None:
    """Take the directory away when the service has ended."""
    shutil.rmtree(os.environ[DIRECTORY], ignore_errors=True)


class _Files:
    def collect(self) -> Iterable[Metric]:
        files = Path(os.environ[DIRECTORY]).glob("*.db")
        # A worker that is making a file has it empty for a moment.
        return MultiProcessCollector.merge([str(f) for f in files if f.stat().st_size])


def _merge(source: Path, target: Path) -> None:
    # A worker that was killed while it made the file has left it empty.
    if source.stat().st_size:
        counts = MmapedDict.read_all_values_from_file(str(source))
        total = MmapedDict(str(target))
        for key, value, timestamp, _ in counts:
            total.write_value(key, total.read_value(key)[0] + value, timestamp)
        total.close()
    source.unlink()


@contextmanager
def _alone(lock: int) -> Iterator[None]:
    # Who cleans up temporary files may have taken the directory away.
    directory = Path(os.environ[DIRECTORY])
    directory.mkdir(mode=0o700, exist_ok=True)
    # A scrape must not see a count in both places, nor in neither.
    with Path(directory, "lock").open("a") as file:
        fcntl.flock(file, lock)
        yield
