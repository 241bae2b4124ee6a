"""One line of JSON for each request and each event, or a plain one on a terminal."""

import json
import logging
import os
import re
import time
from contextlib import suppress
from typing import Any

import click
import orjson
from flask import Flask, Response, g

from petstore import clock
from petstore.routing import current_g, current_request

STDOUT, STDERR = 1, 2
REQUEST_ID = "X-Request-ID"

_terminals = {descriptor for descriptor in (STDOUT, STDERR) if os.isatty(descriptor)}
# W3C Trace Context, section 3.2: version 00 has 55 characters; later versions may have
# more.
_TRACEPARENT = re.compile(
    r"(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}"
    r"-[0-9a-f]{2}(-.*)?"
)
_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def init_app(app: Flask) -> None:
    """Give each request an id, and log its response after every other hook."""
    logger = logging.getLogger("petstore")
    logger.handlers = [_LineHandler()]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    g = current_g()
    g.started = time.perf_counter()
    header = current_request().environ.get("HTTP_X_REQUEST_ID")
    is_sane = header and _SANE_ID.fullmatch(header)
    g.request_id = header if is_sane else os.urandom(16).hex()


def _end(response: Response) -> Response:
    request, g = current_request(), current_g()
    response.headers.add(REQUEST_ID, g.request_id)
    caller, rule = g.get("caller"), request.url_rule
    line = {
        "event": "request",
        "id": g.request_id,
        "method": request.method,
        "route": rule.rule if rule else None,
        "status": response.status_code,
        "duration_ms": round((time.perf_counter() - g.started) * 1000, 3),
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


class _LineHandler(logging.Handler):
    """Writes the records of the `petstore` loggers, which include the events."""

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "facts", {})
        line = {"event": record.getMessage(), "level": record.levelname} | facts
        if "request_id" in (g or ()):
            line["id"] = g.request_id
        if record.exc_info:
            line["exception"] = logging.Formatter().formatException(record.exc_info)
        # The stdout of a command belongs to the script that has called it.
        _write(STDERR if click.get_current_context(silent=True) else STDOUT, line)


def _write(descriptor: int, line: dict[str, Any]) -> None:
    line = {"time": clock.rfc3339(clock.now_ms())} | line
    text = _plain(line) if descriptor in _terminals else _json(line)
    # One system call for each line, so that processes do not mix their lines. Requests
    # go on when nobody reads the log any more.
    with suppress(OSError):
        os.write(descriptor, text + b"\n")


def _json(line: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(line, default=str)
    except TypeError:  # a lone surrogate, perhaps in the text of an error
        return json.dumps(line, default=str).encode()


def _plain(line: dict[str, Any]) -> bytes:
    traceback = line.pop("exception", "")
    shown = {name: value for name, value in line.items() if value is not None}
    facts = "  ".join(f"{name}={value!s}" for name, value in shown.items())
    # Clients must not send control characters to the terminal.
    printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in facts)
    return f"{printable}\n{traceback}".rstrip("\n").encode(errors="backslashreplace")
