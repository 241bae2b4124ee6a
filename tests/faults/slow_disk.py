"""A gunicorn worker class that simulates a disk with slow syncs.

Importing it affects every file that the process opens with SQLite afterwards.
"""

import os
import time

from petstore.server.worker import EventLoopWorker as SlowDiskWorker
from tests.torture.recorder import Recorder, default_file_system

__all__ = ["SlowDiskWorker"]


class SlowDisk(Recorder):
    """A shim below SQLite that delays each sync by SYNC_SECONDS."""

    _seconds = float(os.environ["SYNC_SECONDS"])

    def _sync(self, file: int, flags: int) -> int:
        time.sleep(self._seconds)
        _, methods = self._files[file]
        return methods.sync(file, flags)

    def _write_down(self, *line: object) -> None:
        pass


disk = SlowDisk(default_file_system(), os.devnull)
