"""/healthz: the process is up. /readyz: the stores that it needs are up, too."""

from collections.abc import Mapping

import peewee
from flask import Blueprint, current_app

from petstore.errors import NO_HEADERS, RETRY_AFTER_A_SECOND
from petstore.storage import db
from petstore.web.application import limiter_of

# A database that cannot be written refuses this as well, although it writes nothing.
PROBE = "DELETE FROM project WHERE 1 = 0"

bp = Blueprint("health", __name__)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """Answer as long as the process does."""
    return {"status": "ok"}


@bp.get("/readyz")
def readyz() -> tuple[dict[str, str], int, Mapping[str, str]]:
    """Answer 200 while the database can be written, also without the counter store."""
    answers = limiter_of(current_app).store_answers()
    stores = {"counters": "ok" if answers else "degraded"}
    try:
        db.execute_sql(PROBE)
    except peewee.DatabaseError as error:
        # Perhaps no request will come that could do it.
        db.recover(error)
        return {"status": "unavailable"} | stores, 503, RETRY_AFTER_A_SECOND
    return {"status": "ok"} | stores, 200, NO_HEADERS
