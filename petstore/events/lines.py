"""One line of JSON for each event and each request, or a plain one on a terminal.

Requests and events go to stdout. What gunicorn and other libraries log, and the events
of commands, goes to stderr.
"""

import json
import logging
import os
from select import PIPE_BUF
from typing import Any

import click
import orjson

from petstore import clock
from petstore.events import streams
from petstore.events.streams import STDERR, STDOUT

_terminals = {descriptor for descriptor in (STDOUT, STDERR) if os.isatty(descriptor)}


class LineHandler(logging.Handler):
    """Writes a record as one line: events of the service, and what libraries log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record."""
        is_own = record.name.startswith("petstore")
        if is_own:
            line = {"event": record.getMessage(), "level": record.levelname}
            line |= self.facts() | getattr(record, "facts", {})
        else:
            line = {"event": record.name.partition(".")[0], "level": record.levelname}
            line |= {"message": record.getMessage()}
        if record.exc_info:
            line["exception"] = logging.Formatter().formatException(record.exc_info)
        # The stdout of a command belongs to the script that has called it.
        is_command = click.get_current_context(silent=True)
        write(STDOUT if is_own and not is_command else STDERR, line)

    def facts(self) -> dict[str, str]:
        """Return what is known about the request that has caused an event."""
        return {}


def write_events(handler: LineHandler) -> None:
    """Have the handler write the events of the service."""
    logger = logging.getLogger("petstore")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False


def write(descriptor: int, line: dict[str, Any]) -> None:
    """Write a line of these members, and the time."""
    line = {"time": clock.rfc3339(clock.now_ms())} | line
    if descriptor in _terminals:
        streams.write(descriptor, _plain(line) + b"\n")
        return
    text = _json(line) + b"\n"
    if len(text) <= PIPE_BUF:  # a pipe takes it whole or not at all
        streams.write(descriptor, text)
    else:
        _write_halves(descriptor, line)


def _write_halves(descriptor: int, line: dict[str, Any]) -> None:
    """Write two lines, each with a half of the longest member, such as a traceback."""
    longest = max(line, key=lambda name: len(str(line[name])))
    value = str(line[longest])
    middle = len(value) // 2
    for half in (value[:middle], value[middle:]):
        write(descriptor, line | {longest: half})


def _json(line: dict[str, Any]) -> bytes:
    """Return the line in ASCII, since other characters may control a terminal."""
    try:
        text = orjson.dumps(line, default=str)
    except TypeError:  # a lone surrogate, perhaps in the text of an error
        text = b""
    if text and text.isascii() and b"\x7f" not in text:
        return text
    return json.dumps(line, default=str, separators=(",", ":")).encode()


def _plain(line: dict[str, Any]) -> bytes:
    traceback = line.pop("exception", "")
    shown = {name: value for name, value in line.items() if value is not None}
    facts = "  ".join(f"{name}={value!s}" for name, value in shown.items())
    # Clients must not send control characters to the terminal.
    printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in facts)
    return f"{printable}\n{traceback}".rstrip("\n").encode(errors="backslashreplace")
