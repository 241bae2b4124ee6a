"""The system calls of a process, counted by strace."""

import re
import signal
import subprocess
from pathlib import Path


class Counter:
    """Counts the calls of all threads of a process between `start` and `stop`."""

    def __init__(self, pid: int, directory: Path) -> None:
        self._command = ["strace", "--follow-forks", "--summary-only"]
        self._summary = directory / f"calls.{pid}"
        self._command += [f"--output={self._summary}", f"--attach={pid}"]

    def start(self) -> None:
        """Begin to count."""
        self._strace = subprocess.Popen(
            self._command, stderr=subprocess.PIPE, text=True
        )
        attached = self._strace.stderr.readline()
        assert "attached" in attached, attached

    def stop(self) -> int:
        """Return the number of calls since the start."""
        self._strace.send_signal(signal.SIGINT)
        self._strace.communicate()
        # Percent, seconds, microseconds for each, calls, and sometimes errors.
        total = r"^ *100\.00 +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?total$"
        return int(re.search(total, self._summary.read_text(), re.MULTILINE)[1])
