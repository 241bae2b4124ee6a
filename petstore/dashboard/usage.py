"""/dashboard/usage: the plan, what is left of the quota, and requests of 30 days."""

from flask import current_app, render_template

from petstore.dashboard.pages import PageBlueprint
from petstore.dashboard.sessions import current_project, takes_long
from petstore.models.grants import WRITE
from petstore.models.plans import PLANS, Quota
from petstore.models.requests import SHOWN_DAYS, history
from petstore.web.application import current_request
from petstore.web.limits import limiter_of

INDEX = "usage.usage"

bp = PageBlueprint("usage", __name__, "/usage", required_role=WRITE)


@bp.get("")
@takes_long
def usage() -> str:
    project_id = current_project().id
    limiter = limiter_of(current_app)
    caller = current_request().state.required_caller
    quota, forms = limiter.peek(caller, None), limiter.peek_forms(caller)
    days = history(project_id, SHOWN_DAYS)
    return render_template(
        "usage.html",
        windows={each.name: each for each in (*quota.windows, *forms.windows)},
        days=days,
        top=max(2, *(day.served + day.refused for day in days)),
        plans=PLANS,
        offers=_offers(),
        is_degraded=limiter.strategy.is_down,
    )


def _offers() -> dict[str, Quota]:
    """Return the quota of each plan that has a fixed one, and that of the project."""
    quotas = {name: terms.quota for name, terms in PLANS.items() if terms.quota}
    caller = current_request().state.required_caller
    return quotas | {caller.plan: caller.quota}
