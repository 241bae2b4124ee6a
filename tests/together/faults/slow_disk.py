"""A gunicorn worker class that simulates a disk whose syncs are slow or held.

Importing it affects every file that the process opens with SQLite afterwards.
"""

import os
import time
from pathlib import Path

from petstore.server.worker import Worker as SlowDiskWorker
from tests.harness.file_system import SYNC, Methods, Shim
from tests.harness.waiting import wait_until

__all__ = ["SlowDiskWorker"]


class SlowDisk(Shim):
    """A shim below SQLite that delays each sync.

    It takes SYNC_SECONDS, and does not end while there is a file SYNC_HOLD.
    """

    _seconds = float(os.environ.get("SYNC_SECONDS", "0"))
    _hold = Path(os.environ.get("SYNC_HOLD", "/nowhere"))

    def _replace(self, ours: Methods, theirs: Methods) -> None:
        def sync(file: int, flags: int) -> int:
            time.sleep(self._seconds)
            wait_until(lambda: not self._hold.exists(), "the file is there")
            failure: int = theirs.sync(file, flags)
            return failure

        ours.sync = SYNC(sync)


disk = SlowDisk()
