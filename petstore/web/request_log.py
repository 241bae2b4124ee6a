"""Logs each request, and notes the use of its key. Requests start housekeeping."""

from flask import Flask, Response, has_request_context

from petstore import clock, log, timeouts
from petstore.concurrency import Delayed
from petstore.models.credentials import MARK, masked
from petstore.models.keys import last_uses
from petstore.upkeep import housekeeping
from petstore.web.application import ApplicationRequest, RequestState, current_request

SHOWN_PATH_LENGTH = 256
# Each request starts this, and it runs a minute after the first of them.
_deleting = Delayed(housekeeping.delete_outdated)


def init_app(app: Flask) -> None:
    """Log the events of the service, and each request after all other hooks."""
    log.handle_events(_EventHandler())
    app.after_request(_end)


def _end(response: Response) -> Response:
    request = current_request()
    state = request.state
    _log(request, response)
    if state.caller and state.decision:
        last_uses.add((state.caller.key_id, state.decision.now_ms))
    if not _deleting.is_started:  # a request need not enter another file
        _deleting.start(timeouts.LIMITS.outdated_seconds)
    return response


def _log(request: ApplicationRequest, response: Response) -> None:
    state, rule, path = request.state, request.url_rule, request.path
    caller = state.caller
    members = {
        "event": "request",
        "id": state.request_id,
        "method": request.method,
        "path": (masked(path) if MARK in path else path)[:SHOWN_PATH_LENGTH],
        "route": rule.rule if rule else None,
        "status": response.status_code,
        "code": state.error_code,
        "duration_ms": round((clock.monotonic() - state.started) * 1000, 3),
        "project": caller.slug if caller else None,
        "key": caller.prefix if caller else None,
        "address": request.remote_addr,
        "bytes": response.content_length,
    }
    log.STDOUT.log(members)


class _EventHandler(log.LineHandler):
    def facts(self) -> dict[str, str]:
        """Return the id of the current request, its project and the key that acts."""
        if not has_request_context():
            return {}
        # What is done before the hooks run may emit an event.
        state: RequestState | None = getattr(current_request(), "state", None)
        if state is None:
            return {}
        facts = {"id": state.request_id}
        if caller := state.caller:
            facts |= {"project": caller.slug, "by": caller.prefix}
        return facts
