"""One line of the log for each request, on stdout."""

import re

from flask import Flask, Response, has_request_context

from petstore import clock, log
from petstore.models.credentials import masked
from petstore.web.application import RequestState, current_request
from petstore.web.responses import request_id_of

# W3C Trace Context, section 3.2: version 00 has 55 characters; later versions may have
# more.
_TRACEPARENT = re.compile(
    r"(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}"
    r"-[0-9a-f]{2}(-.*)?"
)
_SHOWN_PATH_LENGTH = 256


def init_app(app: Flask) -> None:
    """Give each request an id, and log its response after every other hook."""
    log.handle_events(_EventHandler())
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    started = clock.monotonic()
    request = current_request()
    request.state = RequestState(request_id_of(request.environ), started)


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
    log.write(line)
    return response


class _EventHandler(log.LineHandler):
    def facts(self) -> dict[str, str]:
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
