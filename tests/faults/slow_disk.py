"""A worker class of gunicorn whose disk takes a while to sync.

Every file that a process opens with SQLite after loading this is on that disk.
"""

import os
import time

from petstore.edge.worker import EdgeWorker as SlowDiskWorker
from tests.torture.recorder import Recorder, default_file_system

__all__ = ["SlowDiskWorker"]


class SlowDisk(Recorder):
    """Stands between SQLite and its files, and takes its time."""

    _seconds = float(os.environ["SYNC_SECONDS"])

    def _sync(self, file: int, flags: int) -> int:
        time.sleep(self._seconds)
        _, methods = self._files[file]
        return methods.sync(file, flags)

    def _write_down(self, *line: object) -> None:
        pass


disk = SlowDisk(default_file_system(), os.devnull)
