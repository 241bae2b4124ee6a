"""/healthz: the process is up. /readyz: so are the stores that it needs."""

from contextlib import suppress

import peewee
from flask import Blueprint, Flask, current_app

from petstore.database import data

bp = Blueprint("health", __name__)


def warm_up(app: Flask) -> None:
    """Reach the stores, before requests of clients have to wait for that."""
    with suppress(peewee.DatabaseError):
        data.execute_sql("SELECT 1").fetchone()
    app.extensions["limiter"].warm_up()


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@bp.get("/readyz")
def readyz() -> tuple[dict[str, str], int]:
    """200 while the database answers; a counter store that is away only degrades."""
    is_degraded = current_app.extensions["limiter"].is_degraded()
    stores = {"counters": "degraded" if is_degraded else "ok"}
    try:
        data.execute_sql("SELECT 1").fetchone()
    except peewee.DatabaseError:
        return {"status": "unavailable"} | stores, 503
    return {"status": "ok"} | stores, 200
