"""Logs and counts each request, and records the use of keys and failed requests."""

import functools
from http import HTTPStatus
from typing import Any

import orjson
from flask import Flask, Response, has_request_context
from prometheus_client import Counter, Histogram

from petstore import clock, log, timeouts
from petstore.concurrency import Delayed
from petstore.errors import printable
from petstore.models.callers import Caller
from petstore.models.credentials import MARK, masked
from petstore.models.grants import PUBLIC
from petstore.models.requests import KeyUse, failures, uses
from petstore.quotas.strategy import Decision
from petstore.upkeep import housekeeping
from petstore.web.application import (
    ApplicationRequest,
    RequestState,
    camel,
    current_request,
)
from petstore.web.turns import turns_of

SHOWN_PATH_LENGTH = 256
REFUSED = (403, 429)
FIRST_ERROR = 400
MAX_MESSAGE_LENGTH = 1_000
MAX_OPERATION_LENGTH = 100

BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
UNCOUNTED_BLUEPRINTS = ("metrics", "health")

REQUESTS = Counter(
    "petstore_requests", "Requests, by operation and status.", ["operation", "status"]
)
DURATION = Histogram(
    "petstore_request_duration_seconds",
    "Time from a request to its answer, by operation.",
    ["operation"],
    buckets=BUCKET_SECONDS,
)
QUOTA_REQUESTS = Counter(
    "petstore_quota_requests",
    "Requests that were counted against a quota, by plan and outcome.",
    ["plan", "outcome"],
)
REFUSALS = Counter(
    "petstore_quota_refusals", "Responses with 429, by reason.", ["reason"]
)
# Each request starts this, and it runs a minute after the first of them.
_deleting = Delayed(housekeeping.delete_outdated)


def init_app(app: Flask) -> None:
    """Log, count and record each request after all other hooks have run."""
    log.handle_events(_EventHandler())
    turns_of(app).on_refusal = _count_refusal
    app.after_request(_end)


def _end(response: Response) -> Response:
    request = current_request()
    _count(request, response)
    _log(request, response)
    _record(request, response)
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


def _count(request: ApplicationRequest, response: Response) -> None:
    state = request.state
    blueprint, _, operation = (request.endpoint or ".unknown").rpartition(".")
    if blueprint in UNCOUNTED_BLUEPRINTS:
        return
    _child(REQUESTS, operation, response.status_code).inc()
    _child(DURATION, operation).observe(clock.monotonic() - state.started)
    if state.decision:
        _count_quota(state.decision, state.caller)


def _count_refusal() -> None:
    _child(REQUESTS, "refused", HTTPStatus.SERVICE_UNAVAILABLE.value).inc()


def _count_quota(decision: Decision, caller: Caller | None) -> None:
    outcome = "served" if decision.is_granted else "refused"
    _child(QUOTA_REQUESTS, caller.plan if caller else "none", outcome).inc()
    if not decision.is_granted:
        _child(REFUSALS, "banned" if decision.is_banned else "limit").inc()


@functools.cache
def _child(metric: Any, *labels: str | int) -> Any:
    """Return the counter of these labels, cached: a look-up costs more than a count."""
    return metric.labels(*labels)


def _record(request: ApplicationRequest, response: Response) -> None:
    state, status = request.state, response.status_code
    if caller := state.caller:
        if decision := state.decision:
            uses.add(KeyUse(caller.key_id, decision.now_ms, status not in REFUSED))
        if status >= FIRST_ERROR and caller.role != PUBLIC and state.is_api:
            failures.add(_failure(request, caller, response))


def _failure(
    request: ApplicationRequest, caller: Caller, response: Response
) -> dict[str, Any]:
    error = orjson.loads(response.data)
    return {
        "project": caller.project_id,
        "at_ms": clock.now_ms(),
        "operation": _operation(request),
        "status": response.status_code,
        "code": error["code"],
        "message": printable(masked(error["message"]), MAX_MESSAGE_LENGTH),
        "key_prefix": caller.prefix,
        "request_id": request.state.request_id,
    }


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
        # A page opens its session, which may emit an event, before the hooks run.
        state: RequestState | None = getattr(current_request(), "state", None)
        if state is None:
            return {}
        facts = {"id": state.request_id}
        if caller := state.caller:
            facts |= {"project": caller.slug, "by": caller.prefix}
        return facts
