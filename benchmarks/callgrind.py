"""Programs under valgrind, whose instructions are counted.

They are the same on any day and on any machine of one kind. A program starts and warms
up about five times slower than without valgrind, and is counted fifty times slower.
"""

import subprocess
import sys
from pathlib import Path

OPTIONS = (
    "--tool=callgrind",
    "--instr-atstart=no",
    "--trace-children=yes",  # otherwise a forked worker cannot be told to count
)


def command(directory: Path, *arguments: str) -> list[str]:
    """Return the command that runs Python under valgrind, with its files there."""
    file = f"--callgrind-out-file={directory}/callgrind.%p"
    return ["valgrind", *OPTIONS, file, sys.executable, *arguments]


class Counter:
    """The counter of a process, which counts between `start` and `stop`."""

    def __init__(self, pid: int, directory: Path) -> None:
        self._pid = pid
        self._directory = directory
        self._dumps = 0

    def start(self) -> None:
        """Begin to count."""
        self._tell("instrumentation", "on")
        self._tell("zero")

    def stop(self) -> int:
        """Return the number of instructions since the start."""
        self._tell("dump")
        self._tell("instrumentation", "off")
        self._dumps += 1
        profile = self._directory / f"callgrind.{self._pid}.{self._dumps}"
        return _total(profile)

    def _tell(self, *words: str) -> None:
        tell = ["vgdb", f"--pid={self._pid}", "--wait=60", *words]
        subprocess.run(tell, check=True, capture_output=True)


def _total(profile: Path) -> int:
    for line in reversed(profile.read_text(errors="replace").splitlines()):
        if line.startswith("totals:"):
            return int(line.split()[1])
    raise RuntimeError(f"{profile} holds no total")
