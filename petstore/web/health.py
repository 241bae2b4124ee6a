"""/healthz: the process is up. /readyz: the stores that it needs are up."""

from collections.abc import Mapping

import peewee
from flask import Blueprint, Flask, current_app

from petstore import clock, timeouts
from petstore.errors import NO_HEADERS, RETRY_AFTER_A_SECOND
from petstore.models.secrets import Secret
from petstore.storage import db
from petstore.web.application import serve_on_every_host
from petstore.web.limiter import limiter_of
from petstore.web.turns import turns_of

bp = Blueprint("health", __name__)


class Probe:
    """Finds out whether the database answers, and can be written."""

    _is_written = False
    _is_due_at = 0.0  # by `clock.monotonic`

    def is_writable(self) -> bool:
        """Return whether the database can be read and written.

        Anybody may ask, so the probe writes at most every ten seconds.
        """
        is_due = clock.monotonic() >= self._is_due_at
        try:
            Secret.get_or_none()
            if is_due:
                self._is_due_at = clock.monotonic() + timeouts.LIMITS.written_seconds
                Secret.try_database()
                self._is_written = True
        except peewee.DatabaseError as error:
            self._is_written &= not is_due
            # Perhaps no other request comes that could reopen the database.
            db.recover(error)
            if not db.is_outage(error):
                current_app.logger.error("internal_error", exc_info=error)
            return False
        return self._is_written


def init_app(app: Flask) -> None:
    app.register_blueprint(bp)
    serve_on_every_host(app, "/healthz", "/readyz")
    turns_of(app).outside |= {"/healthz", "/readyz"}
    app.extensions["probe"] = Probe()


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    return {"status": "ok"}


@bp.get("/readyz")
def readyz() -> tuple[dict[str, str], int, Mapping[str, str]]:
    """Answer 200 while the database can be written, even without the counter store."""
    answers = limiter_of(current_app).store_answers()
    counters = {True: "ok", False: "degraded", None: "unknown"}[answers]
    stores = {"counters": counters}
    if not current_app.extensions["probe"].is_writable():
        return {"status": "unavailable"} | stores, 503, RETRY_AFTER_A_SECOND
    return {"status": "ok"} | stores, 200, NO_HEADERS
