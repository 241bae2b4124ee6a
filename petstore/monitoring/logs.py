"""One line of JSON for each request and each event, or a plain one on a terminal.

Requests and events go to stdout. What gunicorn and other libraries log, and the events
of commands, goes to stderr.
"""

import json
import logging
import os
import re
from select import PIPE_BUF
from typing import Any

import click
import orjson
from flask import Flask, Response, has_request_context

from petstore import clock, randomness
from petstore.models.credentials import contains_key, masked
from petstore.monitoring import streams
from petstore.monitoring.streams import STDERR, STDOUT
from petstore.web.application import current_request
from petstore.web.state import RequestState

_terminals = {descriptor for descriptor in (STDOUT, STDERR) if os.isatty(descriptor)}
# W3C Trace Context, section 3.2: version 00 has 55 characters; later versions may have
# more.
_TRACEPARENT = re.compile(
    r"(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}"
    r"-[0-9a-f]{2}(-.*)?"
)
_VALID_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_SHOWN_PATH_LENGTH = 256


def init_app(app: Flask) -> None:
    """Give each request an id, and log its response after every other hook."""
    logger = logging.getLogger("petstore")
    logger.handlers = [LineHandler()]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    started = clock.monotonic()
    request = current_request()
    request_id = request.environ.get("HTTP_X_REQUEST_ID", "")
    if not _VALID_ID.fullmatch(request_id) or contains_key(request_id):
        request_id = randomness.source.randbytes(16).hex()
    request.state = RequestState(request_id, started)


def _end(response: Response) -> Response:
    request = current_request()
    state, rule = request.state, request.url_rule
    caller = state.caller
    line = {
        "event": "request",
        "id": state.request_id,
        "method": request.method,
        "path": masked(request.path)[:_SHOWN_PATH_LENGTH],
        "route": rule.rule if rule else None,
        "status": response.status_code,
        "code": state.error_code,
        "duration_ms": round((clock.monotonic() - state.started) * 1000, 3),
        "project": caller.slug if caller else None,
        "key": caller.prefix if caller else None,
        "address": request.remote_addr,
        "bytes": response.content_length,
    }
    traceparent = request.environ.get("HTTP_TRACEPARENT")
    if traceparent and (trace := _TRACEPARENT.fullmatch(traceparent)):
        line["trace"] = trace[1]
    _write(STDOUT, line)
    return response


class LineHandler(logging.Handler):
    """Writes a record as one line: events of the service, and what libraries log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record."""
        is_own = record.name.startswith("petstore")
        if is_own:
            line = {"event": record.getMessage(), "level": record.levelname}
            line |= _request_facts() | getattr(record, "facts", {})
        else:
            line = {"event": record.name.partition(".")[0], "level": record.levelname}
            line |= {"message": record.getMessage()}
        if record.exc_info:
            line["exception"] = logging.Formatter().formatException(record.exc_info)
        # The stdout of a command belongs to the script that has called it.
        is_command = click.get_current_context(silent=True)
        _write(STDOUT if is_own and not is_command else STDERR, line)


def _request_facts() -> dict[str, str]:
    """Return the id of the current request, its project and the key that acts."""
    if not has_request_context():
        return {}
    # Flask opens the session of a page before any hook has run.
    state: RequestState | None = getattr(current_request(), "state", None)
    if state is None:
        return {}
    facts = {"id": state.request_id}
    if caller := state.caller:
        facts |= {"project": caller.slug, "by": caller.prefix}
    return facts


def _write(descriptor: int, line: dict[str, Any]) -> None:
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
        _write(descriptor, line | {longest: half})


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
