"""Counts each request, for Prometheus and for its key, and records failed ones."""

import functools
from http import HTTPStatus
from typing import Any

import orjson
from flask import Flask, Response
from prometheus_client import Counter, Histogram

from petstore import clock
from petstore.errors import printable
from petstore.extensions.monitoring.models import KeyUse, failures, uses
from petstore.models.callers import Caller
from petstore.models.credentials import masked
from petstore.models.grants import PUBLIC
from petstore.quotas.strategy import Decision
from petstore.web.application import ApplicationRequest, camel, current_request
from petstore.web.turns import turns_of

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


def init_app(app: Flask) -> None:
    """Count and record each request after the hooks of the API have run."""
    turns_of(app).on_refusal = _count_refusal
    app.after_request(_end)


def _end(response: Response) -> Response:
    request = current_request()
    _count(request, response)
    _record(request, response)
    return response


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
