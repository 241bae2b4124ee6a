"""/healthz: the process is up. /readyz: the stores that it needs are up, too."""

from collections.abc import Mapping

import peewee
from flask import Blueprint, Flask, current_app

from petstore import clock
from petstore.errors import NO_HEADERS, RETRY_AFTER_A_SECOND
from petstore.models.secrets import Secret
from petstore.storage import db
from petstore.web.limits import limiter_of

WRITTEN_SECONDS = 1.0  # a write costs an fsync, and anybody may ask

bp = Blueprint("health", __name__)


class Probe:
    """Finds out whether the database can be written."""

    _is_right_until = 0.0  # by `clock.monotonic`

    def write(self) -> None:
        """Write, unless that has succeeded a moment ago; raises a `DatabaseError`."""
        if clock.monotonic() >= self._is_right_until:
            Secret.renew("readiness")
            self._is_right_until = clock.monotonic() + WRITTEN_SECONDS


def init_app(app: Flask) -> None:
    app.register_blueprint(bp)
    app.extensions["probe"] = Probe()


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    return {"status": "ok"}


@bp.get("/readyz")
def readyz() -> tuple[dict[str, str], int, Mapping[str, str]]:
    """Answer 200 while the database can be written, also without the counter store."""
    answers = limiter_of(current_app).store_answers()
    stores = {"counters": "ok" if answers else "degraded"}
    try:
        current_app.extensions["probe"].write()
    except peewee.DatabaseError as error:
        # Perhaps no request will come that could do it.
        db.recover(error)
        return {"status": "unavailable"} | stores, 503, RETRY_AFTER_A_SECOND
    return {"status": "ok"} | stores, 200, NO_HEADERS
