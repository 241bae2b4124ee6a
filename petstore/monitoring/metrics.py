"""/metrics: counters of all workers together, and gauges, for Prometheus.

Under gunicorn each worker counts in files of its own, as the documentation of
prometheus_client describes its multiprocess mode.
"""

import functools
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Flask, Response, current_app
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from petstore import clock, log
from petstore.models.callers import Caller
from petstore.quotas.decisions import Decision
from petstore.settings import INTERFACE, RELEASE
from petstore.web.application import ApplicationRequest, limiter_of
from petstore.web.proxies import require_private_client
from petstore.web.turns import turns_of

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
DROPPED = Counter(
    "petstore_log_lines_dropped", "Lines of the log that were not written."
)
EVENTS = {
    "key_banned": Counter("petstore_bans", "Keys that were banned."),
    "database_error": Counter(
        "petstore_database_errors",
        "Requests that failed because the database did not answer.",
    ),
}

bp = Blueprint("metrics", __name__)


def init_app(app: Flask) -> None:
    """Show what is counted, and count what is no response of the application."""
    app.register_blueprint(bp)
    turns_of(app).on_refusal = _count_refusal
    log.Stream.on_drop = DROPPED.inc
    logging.getLogger("petstore.events").handlers = [_EventHandler()]


@bp.get("/metrics")
def metrics() -> Response:
    """Return all metrics; 404 to all but machines of the operator."""
    require_private_client()
    registry = CollectorRegistry()
    registry.register(_Gauges())
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)
    else:
        registry.register(REGISTRY)
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Gauges(Collector):
    """Computes gauges for each scrape: what a worker has stored may be out of date."""

    def collect(self) -> Iterator[Metric]:
        build = {"version": RELEASE, "interface": INTERFACE}
        yield InfoMetricFamily("petstore_build", "What is running.", build)
        yield GaugeMetricFamily(
            "petstore_counter_store_up",
            "1 while the counter store answers.",
            value=limiter_of(current_app).store_answers(),
        )


def count(request: ApplicationRequest, response: Response) -> None:
    """Count a request when its response is known."""
    state = request.state
    blueprint, _, operation = (request.endpoint or ".unknown").rpartition(".")
    if blueprint in UNCOUNTED_BLUEPRINTS:
        return
    with suppress(OSError):  # requests go on without metrics if a file cannot grow
        _child(REQUESTS, operation, response.status_code).inc()
        _child(DURATION, operation).observe(clock.monotonic() - state.started)
        if state.decision:
            _count_quota(state.decision, state.caller)


def _count_refusal() -> None:
    with suppress(OSError):  # as in `count`
        _child(REQUESTS, "refused", HTTPStatus.SERVICE_UNAVAILABLE.value).inc()


def _count_quota(decision: Decision, caller: Caller | None) -> None:
    outcome = "served" if decision.is_granted else "refused"
    _child(QUOTA_REQUESTS, caller.plan if caller else "none", outcome).inc()
    if not decision.is_granted:
        _child(REFUSALS, "banned" if decision.is_banned else "limit").inc()


@functools.cache
def _child(metric: Any, *labels: str | int) -> Any:
    """Return the child with these labels; to look it up costs more than to count."""
    return metric.labels(*labels)


class _EventHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if counter := EVENTS.get(record.getMessage()):
            counter.inc()
