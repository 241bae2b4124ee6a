"""The log: a line for each event and request, in JSON, or for people on a terminal.

Requests and events go to stdout, and the lines of gunicorn and other libraries to
stderr. A thread writes the lines, so a slow reader of the log cannot stop the service.
If too many lines wait, further ones are dropped and counted.
"""

import atexit
import json
import logging
import os
from collections import deque
from collections.abc import Callable
from select import PIPE_BUF
from typing import Any

import orjson

from petstore import clock, timeouts
from petstore.concurrency import original


class Stream:
    """An output of the process, with a thread that writes the lines to it."""

    # Called with the number of lines that are dropped, perhaps in that thread.
    on_drop: Callable[[int], object] = staticmethod(lambda _count: None)

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._is_terminal = os.isatty(descriptor)
        self.forget()

    def forget(self) -> None:
        """Forget the lines and the thread, which belong to the parent after a fork."""
        self._lines: deque[bytes] = deque()
        self._has_thread = self._is_writing = False

    def log(self, members: dict[str, Any]) -> None:
        """Write a line of these members and the time soon."""
        self.put(_readable(members) if self._is_terminal else _json(members))

    def put(self, line: bytes) -> None:
        """Write a line soon, or drop it."""
        if not self._has_thread:
            self._has_thread = True
            original("_thread", "start_new_thread")(self._write_lines, ())
        if len(self._lines) < timeouts.LIMITS.log_lines:
            self._lines.append(line)
        else:
            self.on_drop(1)

    def flush(self) -> None:
        """Wait until all lines are written, but not for long: the process ends."""
        ends = clock.monotonic() + timeouts.LIMITS.log_seconds
        pause = original("time", "sleep")
        while (self._lines or self._is_writing) and clock.monotonic() < ends:
            pause(timeouts.LIMITS.log_pause_seconds / 10)

    def _write_lines(self) -> None:
        """Write lines for ever, in a real thread, which must use nothing of gevent.

        The thread looks for lines at intervals, because it would take longer to wake it
        than to make a line.
        """
        lines, pause = self._lines, original("time", "sleep")
        while True:
            pause(timeouts.LIMITS.log_pause_seconds)
            self._is_writing = True
            while lines:
                batch = lines.popleft()
                # A pipe does not split a write of this size, so the lines of several
                # processes do not mix.
                while lines and len(batch) + len(lines[0]) <= PIPE_BUF:
                    batch += lines.popleft()
                self._write(batch)
            self._is_writing = False

    def _write(self, batch: bytes) -> None:
        try:
            while batch:
                batch = batch[os.write(self.descriptor, batch) :]
        except OSError:
            self.on_drop(batch.count(b"\n"))


STDOUT, STDERR = Stream(1), Stream(2)
for stream in (STDOUT, STDERR):
    atexit.register(stream.flush)
    os.register_at_fork(after_in_child=stream.forget)


class LineHandler(logging.Handler):
    """Logs each record, of the service or of a library, as one line."""

    def __init__(self, events: Stream = STDOUT) -> None:
        super().__init__()
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        stream = self._events if _is_own(record) else STDERR
        stream.log(self._line(record))

    def facts(self) -> dict[str, str]:
        """Return facts about the request that caused an event."""
        return {}

    def _line(self, record: logging.LogRecord) -> dict[str, Any]:
        line = {"event": record.getMessage(), "level": record.levelname}
        if _is_own(record):
            line |= self.facts() | getattr(record, "facts", {})
        else:
            line |= {"event": record.name.partition(".")[0], "message": line["event"]}
        if record.exc_info:
            line["exception"] = logging.Formatter().formatException(record.exc_info)
        return line


def handle_events(handler: logging.Handler) -> None:
    """Let the handler log the events of the service."""
    logger = logging.getLogger("petstore")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False


def handle_events_of_command() -> None:
    """Log the events of this process to stderr, and to no terminal."""
    is_terminal = os.isatty(STDERR.descriptor)
    handle_events(logging.NullHandler() if is_terminal else LineHandler(STDERR))


def _is_own(record: logging.LogRecord) -> bool:
    return record.name.startswith("petstore")


def _readable(members: dict[str, Any]) -> bytes:
    """Return a line for people, in ASCII; a traceback has its own lines."""
    traceback = members.pop("exception", "")
    if members["event"] == "request":
        text = "{status} {method:<6} {path} {duration_ms:.1f} ms".format_map(members)
    else:
        text = " ".join(f"{name}={value}" for name, value in members.items())
    lines = [f"{clock.rfc3339(clock.now_ms())[11:19]} {text}", *traceback.splitlines()]
    return b"".join(line.encode("unicode_escape") + b"\n" for line in lines)


def _json(members: dict[str, Any]) -> bytes:
    """Return a line of JSON in ASCII: other characters may control a terminal."""
    line = {"time": clock.rfc3339(clock.now_ms())} | members
    try:
        text = orjson.dumps(line, default=str, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a lone surrogate, perhaps in the text of an error
        text = b""
    if text and text.isascii() and b"\x7f" not in text:
        return text
    return json.dumps(line, default=str, separators=(",", ":")).encode() + b"\n"
