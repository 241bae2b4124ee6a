"""/dashboard: the plan, the quota now, and the requests of the last 30 days."""

from flask import current_app, g, render_template, request

from petstore import quotas
from petstore.clock import MS_PER_DAY
from petstore.dashboard.chart import Chart
from petstore.dashboard.pages import pages_blueprint
from petstore.models.pets import Pet

SHOWN_DAYS = 30

bp = pages_blueprint("overview", __name__, "")


@bp.get("/")
@bp.get("")
def overview() -> str:
    """Show how much of its quota the project uses."""
    limiter = quotas.limiter_of(current_app)
    quota = limiter.peek(g.caller, None)
    today = quota.now_ms // MS_PER_DAY
    days = limiter.history(g.caller, range(today - SHOWN_DAYS + 1, today + 1))
    return render_template(
        "overview.html",
        quota=quota,
        chart=Chart.of(days),
        is_degraded=limiter.is_away,
        first_call=None if _has_animals() else _first_call(),
    )


def _has_animals() -> bool:
    return bool(Pet.page(g.project.id, after=0, limit=1, status=None))


def _first_call() -> str:
    """Return a shell command that adds an animal, at the host of the page."""
    return (
        f"curl {request.host_url}v1/pets -H 'Authorization: Bearer YOUR_KEY' "
        """-H 'Content-Type: application/json' -d '{"name": "Rex", "categoryId": 7}'"""
    )
