"""/metrics: the counters of all workers, and gauges, for Prometheus.

Under gunicorn each worker counts in its own files: see the multiprocess mode in the
documentation of prometheus_client.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import suppress

import peewee
from flask import Blueprint, Flask, Response, current_app
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from petstore import clock, log
from petstore.models.secrets import Secret
from petstore.settings import INTERFACE, RELEASE
from petstore.web.application import serve_on_every_host
from petstore.web.limiter import limiter_of
from petstore.web.proxies import require_private_client
from petstore.web.turns import turns_of

DROPPED = Counter(
    "petstore_log_lines_dropped", "Lines of the log that were not written."
)
EVENTS = {
    "key_banned": Counter("petstore_bans", "Keys that were banned."),
    "database_error": Counter(
        "petstore_database_errors",
        "Requests that the database did not answer.",
    ),
}

bp = Blueprint("metrics", __name__)


def init_app(app: Flask) -> None:
    """Serve the metrics, and count events and dropped lines of the log."""
    app.register_blueprint(bp)
    serve_on_every_host(app, "/metrics")
    turns_of(app).outside.add("/metrics")
    log.Stream.on_drop = DROPPED.inc
    logging.getLogger("petstore.events").handlers = [_EventHandler()]


@bp.get("/metrics")
def metrics() -> Response:
    """Return all metrics to the operator's machines, and 404 to others."""
    require_private_client()
    registry = CollectorRegistry()
    registry.register(_Gauges())
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)
    else:
        registry.register(REGISTRY)
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Gauges(Collector):
    """Computes gauges for each scrape, because stored values may be out of date."""

    def collect(self) -> Iterator[Metric]:
        build = {"version": RELEASE, "interface": INTERFACE}
        yield InfoMetricFamily("petstore_build", "What is running.", build)
        yield GaugeMetricFamily(
            "petstore_counter_store_up",
            "1 while the counter store answers.",
            value=limiter_of(current_app).store_answers(),
        )
        with suppress(peewee.DatabaseError):  # then it has no value
            last = Secret.get_or_none(name="last_backup")
            yield GaugeMetricFamily(
                "petstore_last_backup_timestamp_seconds",
                "When the last backup was made.",
                value=int(last.text) / clock.MS_PER_SECOND if last else None,
            )


class _EventHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if counter := EVENTS.get(record.getMessage()):
            counter.inc()
