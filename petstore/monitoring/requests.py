"""What each request leaves behind: a line of the log, counts, and notes of its key."""

import re

import orjson
from flask import Flask, Response, has_request_context

from petstore import clock, log, timeouts
from petstore.concurrency import Delayed
from petstore.errors import printable
from petstore.models.callers import Caller
from petstore.models.credentials import masked
from petstore.models.grants import PUBLIC
from petstore.models.requests import Failure, Use, failures, uses
from petstore.monitoring import metrics
from petstore.upkeep import housekeeping
from petstore.web.application import (
    ApplicationRequest,
    JsonResponse,
    RequestState,
    camel,
    current_request,
    is_api_path,
)

# W3C Trace Context, section 3.2: version 00 has 55 characters; later versions may have
# more.
_TRACEPARENT = re.compile(
    r"(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}"
    r"-[0-9a-f]{2}(-.*)?"
)
SHOWN_PATH_LENGTH = 256
REFUSED = (403, 429)
FIRST_ERROR = 400
MAX_MESSAGE_LENGTH = 1_000
MAX_OPERATION_LENGTH = 100

# What each request starts happens a minute later at most, in the background.
_tidying = Delayed(housekeeping.tidy)


def init_app(app: Flask) -> None:
    """Log, count and note each request after every other hook."""
    log.handle_events(_EventHandler())
    app.after_request(_end)


def _end(response: Response) -> Response:
    request = current_request()
    _log(request, response)
    metrics.count(request, response)
    _note(request, response)
    _tidying.start(timeouts.LIMITS.tidy_seconds)
    return response


def _log(request: ApplicationRequest, response: Response) -> None:
    state, rule = request.state, request.url_rule
    caller = state.caller
    line = {
        "event": "request",
        "id": state.request_id,
        "method": request.method,
        "path": masked(request.path)[:SHOWN_PATH_LENGTH],
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


def _note(request: ApplicationRequest, response: Response) -> None:
    state, status = request.state, response.status_code
    if caller := state.caller:
        if decision := state.decision:
            uses.add(Use(caller.key_id, decision.now_ms, status not in REFUSED))
        if (
            status >= FIRST_ERROR
            and caller.role != PUBLIC
            and is_api_path(request.path)
            and isinstance(response, JsonResponse)
        ):
            failures.add(_failure(request, caller, response))


def _failure(
    request: ApplicationRequest, caller: Caller, response: JsonResponse
) -> Failure:
    error = orjson.loads(response.body)
    return Failure(
        caller.project_id,
        clock.now_ms(),
        _operation(request),
        response.status_code,
        error["code"],
        printable(masked(error["message"]), MAX_MESSAGE_LENGTH),
        caller.prefix,
        request.state.request_id,
    )


def _operation(request: ApplicationRequest) -> str:
    if request.endpoint:
        return camel(request.endpoint.rpartition(".")[2])
    path = masked(f"{request.method} {request.path}")
    return printable(path, MAX_OPERATION_LENGTH)


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
