"""stdout and stderr: what the server cannot write at once is dropped and counted.

Whoever reads the log may pause, and a write to a full pipe, terminal or socket waits
for as long as that. A command may wait for its reader; the server must not.
"""

import fcntl
import io
import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import suppress

from petstore import timeouts

STDOUT, STDERR = 1, 2

_writers: dict[int, Callable[[int, bytes], int]] = {}
_on_drop: list[Callable[[], object]] = []
_cut: set[int] = set()  # descriptors on which the last line has no end


def write(descriptor: int, line: bytes) -> None:
    """Write a line with one system call, so that processes do not mix their lines.

    At most `select.PIPE_BUF` bytes are written whole or not at all.
    """
    if descriptor in _cut:
        line = b"\n" + line
    try:
        written = _writers.get(descriptor, os.write)(descriptor, line)
    except OSError:
        written = 0
    if written < len(line):
        _drop(descriptor, is_cut=written > 0)
    elif _cut:
        _cut.discard(descriptor)


def _drop(descriptor: int, *, is_cut: bool) -> None:
    if is_cut:
        _cut.add(descriptor)
    for count in _on_drop:
        count()


def never_wait(on_drop: Callable[[], object]) -> list[str]:
    """Make the writes of this process and its children never wait for a reader.

    What Python and libraries print takes the same way. The function is called for each
    line that is dropped. Return the names of the streams that wait all the same.
    """
    _on_drop[:] = [on_drop]
    waiting = []
    for name, descriptor in {"stdout": STDOUT, "stderr": STDERR}.items():
        try:
            _stop_waiting(descriptor)
        except OSError:
            waiting.append(name)
        setattr(sys, name, _Printed(descriptor))
    return waiting


def _stop_waiting(descriptor: int) -> None:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISSOCK(mode):
        own = socket.socket(fileno=os.dup(descriptor))
        _writers[descriptor] = lambda _, line: own.send(line, socket.MSG_DONTWAIT)
    elif stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        _open_again(descriptor)
    if stat.S_ISFIFO(mode):
        with suppress(OSError):  # the system may allow less
            _enlarge(descriptor)


def _open_again(descriptor: int) -> None:
    """Replace an inherited pipe or terminal by one of our own that does not wait.

    O_NONBLOCK on the inherited one would also hold for the shell that has started us.
    """
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
    opened = os.open(f"/proc/self/fd/{descriptor}", flags)
    os.dup2(opened, descriptor)
    os.close(opened)


def _enlarge(pipe: int) -> None:
    """Let the reader fall behind for a moment before lines are dropped."""
    size = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    if size < timeouts.LIMITS.log_bytes:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, timeouts.LIMITS.log_bytes)


class _Printed(io.TextIOBase):
    """What is printed: tracebacks, and a few lines of gunicorn."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """Return the descriptor, which gunicorn asks for."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether a terminal shows it, which gunicorn asks for."""
        return os.isatty(self._descriptor)

    def write(self, text: str) -> int:
        """Write or drop the text; either way nothing is left to write."""
        write(self._descriptor, text.encode(errors="backslashreplace"))
        return len(text)
