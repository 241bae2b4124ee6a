"""Programs under valgrind, whose instructions and system calls are counted.

Both are the same on any day and on any machine of one kind. A program starts and warms
up about five times slower than without valgrind, and is counted fifty times slower.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

OPTIONS = (
    "--tool=callgrind",
    "--instr-atstart=no",
    "--trace-syscalls=yes",
    "--trace-children=yes",  # otherwise a forked worker cannot be told to count
)
# Reading a clock is a system call under valgrind only (x86-64: gettimeofday, time and
# clock_gettime). A call that blocks has a second line, with dots.
CALL = r"SYSCALL\[%d,\d+\]\( *(?!96\)|201\)|228\))\d+\) (?!\.\.\.)"


class Cost(NamedTuple):
    """What a program has spent."""

    instructions: int
    calls: int  # of the system


def command(directory: Path, *arguments: str) -> list[str]:
    """Return the command that runs Python under valgrind, with its files there."""
    files = [f"--log-file={directory}/syscalls.%p"]
    files.append(f"--callgrind-out-file={directory}/callgrind.%p")
    return ["valgrind", *OPTIONS, *files, sys.executable, *arguments]


class Counter:
    """The counter of a process, which counts between `start` and `stop`."""

    def __init__(self, pid: int, directory: Path) -> None:
        self._pid = pid
        self._directory = directory
        self._call = re.compile((CALL % pid).encode())
        self._calls_before = 0
        self._dumps = 0

    def start(self) -> None:
        """Begin to count."""
        self._tell("instrumentation", "on")
        self._tell("zero")
        self._calls_before = self._calls()

    def stop(self) -> Cost:
        """Return what was spent since the start."""
        calls = self._calls() - self._calls_before
        self._tell("dump")
        self._tell("instrumentation", "off")
        self._dumps += 1
        profile = self._directory / f"callgrind.{self._pid}.{self._dumps}"
        return Cost(_total(profile), calls)

    def _tell(self, *words: str) -> None:
        tell = ["vgdb", f"--pid={self._pid}", "--wait=60", *words]
        subprocess.run(tell, check=True, capture_output=True)

    def _calls(self) -> int:
        logs = self._directory.glob("syscalls.*")  # a child may go on with its parent's
        return sum(len(self._call.findall(log.read_bytes())) for log in logs)


def _total(profile: Path) -> int:
    for line in reversed(profile.read_text(errors="replace").splitlines()):
        if line.startswith("totals:"):
            return int(line.split()[1])
    raise RuntimeError(f"{profile} holds no total")
