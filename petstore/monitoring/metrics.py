"""/metrics: counters of all workers together, and gauges, for Prometheus."""

import functools
import logging
import os
import struct
import time
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
from petstore.web.application import current_request, limiter_of
from petstore.web.proxies import require_direct_client
from petstore.web.turns import turns_of

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
READS = 50  # of the files, until none is just being made
PAUSE_SECONDS = 0.01
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
DEPRECATED = Counter(
    "petstore_deprecated_requests",
    "Calls of deprecated operations.",
    ["operation"],
)
EVENTS = {
    "key_banned": ("petstore_bans", "Keys that were banned."),
    "database_error": (
        "petstore_database_errors",
        "Requests that failed because the database did not answer.",
    ),
    "log_line_dropped": (
        "petstore_log_lines_dropped",
        "Lines of the log that were not written.",
    ),
}

bp = Blueprint("metrics", __name__)


def init_app(app: Flask) -> None:
    """Count each request once, when its response is known."""
    app.after_request(_count)
    turns_of(app).on_refusal = _count_refusal
    app.register_blueprint(bp)
    logging.getLogger("petstore.events").handlers = [_EventHandler()]


def make_directory() -> None:
    """Make the directory for the files of the workers, if there are several.

    A cleaner of temporary files may have deleted it.
    """
    if directory := os.environ.get(DIRECTORY):
        os.makedirs(directory, mode=0o700, exist_ok=True)


def open_files() -> None:
    """Show every counter that has no labels as 0, and open the files of this process.

    A process that never calls it, such as a command, leaves no file.
    """
    for name in EVENTS:
        _counter_of(name)
    _child(DURATION, "unknown")


@bp.get("/metrics")
def metrics() -> Response:
    """Return all metrics; 404 to a request that came through a proxy."""
    require_direct_client()
    registry = CollectorRegistry()
    registry.register(_Gauges(current_app))
    if os.environ.get(DIRECTORY):
        make_directory()
        MultiProcessCollector(registry)
    else:
        open_files()
        registry.register(REGISTRY)
    return Response(_text(registry), content_type=CONTENT_TYPE_LATEST)


def _text(registry: CollectorRegistry) -> bytes:
    for _ in range(READS - 1):
        with suppress(struct.error):  # a new worker has a file that is still empty
            return generate_latest(registry)
        time.sleep(PAUSE_SECONDS)
    return generate_latest(registry)


class _Gauges(Collector):
    """Computes gauges for each scrape: what a worker has stored may be out of date."""

    def __init__(self, app: Flask) -> None:
        self._app = app

    def collect(self) -> Iterator[Metric]:
        build = {"version": RELEASE, "interface": INTERFACE}
        yield InfoMetricFamily("petstore_build", "What is running.", build)
        yield GaugeMetricFamily(
            "petstore_counter_store_up",
            "1 while the counter store answers.",
            value=limiter_of(self._app).store_answers(),
        )


def _count(response: Response) -> Response:
    request = current_request()
    state = request.state
    blueprint, _, operation = (request.endpoint or ".unknown").rpartition(".")
    if blueprint in UNCOUNTED_BLUEPRINTS:
        return response
    # Requests go on without metrics if the files cannot be opened.
    with suppress(OSError):
        if dropped := log.take_dropped():
            _counter_of("log_line_dropped").inc(dropped)
        _child(REQUESTS, operation, response.status_code).inc()
        _child(DURATION, operation).observe(clock.monotonic() - state.started)
        if state.decision:
            _count_quota(state.decision, state.caller)
            if state.caller and state.is_deprecated:
                _child(DEPRECATED, operation).inc()
    return response


def _count_refusal() -> None:
    with suppress(OSError):
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


@functools.cache
def _counter_of(name: str) -> Counter:
    return Counter(*EVENTS[name])


class _EventHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        name = record.getMessage()
        if name in EVENTS:
            with suppress(OSError):  # as in `_count`
                _counter_of(name).inc()
