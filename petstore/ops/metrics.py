"""/metrics: counters of all workers together, and gauges, for Prometheus."""

import functools
import logging
import time

import peewee
from flask import Blueprint, Flask, Response, current_app
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Histogram

from petstore import quotas
from petstore.clock import MS_PER_SECOND
from petstore.domains.inspection import inspection_of
from petstore.models.domain_checks import certificate_summary
from petstore.ops import metric_files
from petstore.proxies import require_direct_client
from petstore.routing import current_g, current_request

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
REFUSALS = Counter(
    "petstore_quota_refusals", "Responses with 429, by reason.", ["reason"]
)
DEPRECATED = Counter(
    "petstore_deprecated_requests",
    "Calls of deprecated operations, by project.",
    ["operation", "project"],
)
EVENTS = {
    "key_banned": Counter("petstore_bans", "Keys that were banned."),
    "database_error": Counter(
        "petstore_database_errors",
        "Requests that failed because the database did not answer.",
    ),
}
# Gauges are computed for each scrape: what a worker has stored may be out of date.
GAUGE = """\
# HELP {name} {help}
# TYPE {name} gauge
{name} {value}.0
"""

bp = Blueprint("metrics", __name__)


def init_app(app: Flask) -> None:
    """Count each request once, when its response is known."""
    app.after_request(_count)
    app.register_blueprint(bp)
    logging.getLogger("petstore.events").handlers = [_EventCounter()]


@bp.get("/metrics")
def metrics() -> Response:
    """Return all metrics; 404 to a request that came through a proxy."""
    require_direct_client()
    lines = metric_files.render() + _gauges().encode()
    return Response(lines, content_type=CONTENT_TYPE_LATEST)


def _gauges() -> str:
    is_up = not quotas.limiter_of(current_app).is_degraded()
    text = _gauge(
        "petstore_counter_store_up", "1 while the counter store answers.", int(is_up)
    )
    if inspection_of(current_app):
        text += _certificate_gauges()
    return text


def _certificate_gauges() -> str:
    try:
        summary = certificate_summary()
    except peewee.DatabaseError:
        return ""  # no figures are better than old ones
    text = _gauge(
        "petstore_certificates_failed",
        "Domains in use whose certificate has failed.",
        summary.failed,
    )
    if summary.expires_ms is not None:
        text += _gauge(
            "petstore_certificate_expires_timestamp_seconds",
            "When the first of the other certificates expires.",
            summary.expires_ms // MS_PER_SECOND,
        )
    return text


def _gauge(name: str, description: str, value: int) -> str:
    return GAUGE.format(name=name, help=description, value=value)


def _count(response: Response) -> Response:
    request, g = current_request(), current_g()
    blueprint, _, operation = (request.endpoint or ".unknown").rpartition(".")
    if blueprint in UNCOUNTED_BLUEPRINTS:
        return response
    _requests(operation, response.status_code).inc()
    _duration(operation).observe(time.perf_counter() - g.started)
    decision, caller = g.get("decision"), g.get("caller")
    if decision and not decision.is_granted:
        REFUSALS.labels("banned" if decision.is_banned else "limit").inc()
    if caller and "Deprecation" in response.headers:
        DEPRECATED.labels(operation, caller.slug).inc()
    return response


# Looking a child up by its labels costs more than counting.
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
