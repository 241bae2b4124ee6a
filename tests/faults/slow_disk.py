"""A worker class of gunicorn whose disk takes 20 ms to sync."""

import os
import time

from petstore.edge.worker import EdgeWorker as SlowDiskWorker
from tests.torture.recorder import Recorder, default_file_system

__all__ = ["SlowDiskWorker"]

SYNC_SECONDS = 0.02


class SlowDisk(Recorder):
    """Stands between SQLite and its files, and takes its time."""

    def _sync(self, file: int, flags: int) -> int:
        time.sleep(SYNC_SECONDS)
        _, methods = self._files[file]
        return methods.sync(file, flags)

    def _write_down(self, *line: object) -> None:
        pass


disk = SlowDisk(default_file_system(), os.devnull)
