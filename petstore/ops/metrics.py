"""/metrics: counters of all workers together, as Prometheus reads them."""

import functools
import logging
import time

from flask import Blueprint, Flask, Response, g, request
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Histogram

from petstore.ops import gauges, metric_files
from petstore.ops.peers import require_direct_peer

BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
UNCOUNTED = ("metrics", "health")  # blueprints of those who watch the service

REQUESTS = Counter(
    "petstore_requests", "Requests, by operation and status.", ["operation", "status"]
)
DURATION = Histogram(
    "petstore_request_duration_seconds",
    "Time from a request to its answer, by operation.",
    ["operation"],
    buckets=BUCKET_SECONDS,
)
REFUSALS = Counter("petstore_quota_refusals", "Answers of 429.", ["reason"])
DEPRECATED = Counter(
    "petstore_deprecated_requests",
    "Calls of deprecated operations, by project.",
    ["operation", "project"],
)
EVENTS = {
    "key_banned": Counter("petstore_bans", "Keys that were banned."),
    "database_error": Counter("petstore_database_errors", "Requests without database."),
}

bp = Blueprint("metrics", __name__)


def init_app(app: Flask) -> None:
    """Count each request once, when its answer is known."""
    app.after_request(_count)
    app.register_blueprint(bp)
    logging.getLogger("petstore.events").handlers = [_EventCounter()]


@bp.get("/metrics")
def metrics() -> Response:
    """For a scraper beside the service; what came through a proxy finds nothing."""
    require_direct_peer()
    lines = metric_files.render() + gauges.render()
    return Response(lines, content_type=CONTENT_TYPE_LATEST)


def _count(response: Response) -> Response:
    endpoint, state = request.endpoint, g._get_current_object()
    blueprint, _, operation = (endpoint or ".unknown").rpartition(".")
    if blueprint in UNCOUNTED:
        return response
    _requests(operation, response.status_code).inc()
    _duration(operation).observe(time.perf_counter() - state.started)
    decision, caller = state.get("decision"), state.get("caller")
    if decision and not decision.is_granted:
        REFUSALS.labels("banned" if decision.is_banned else "limit").inc()
    if caller and "Deprecation" in response.headers:
        DEPRECATED.labels(operation, caller.slug).inc()
    return response


# Finding a child by its labels costs more than counting.
@functools.cache
def _requests(operation: str, status: int) -> Counter:
    return REQUESTS.labels(operation, str(status))


@functools.cache
def _duration(operation: str) -> Histogram:
    return DURATION.labels(operation)


class _EventCounter(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        name = record.getMessage()
        if name in EVENTS:
            EVENTS[name].inc()
