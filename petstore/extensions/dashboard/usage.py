"""/dashboard/usage: the plan, what is left of the quota, and requests of 30 days."""

from flask import current_app, render_template

from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.sessions import current_project, takes_long
from petstore.models.grants import WRITE
from petstore.models.plans import PLANS
from petstore.models.requests import SHOWN_DAYS, history
from petstore.web.application import current_request
from petstore.web.limiter import limiter_of

INDEX = "usage.usage"

bp = PageBlueprint("usage", __name__, "/usage", required_role=WRITE)


@bp.get("")
@takes_long
def usage() -> str:
    limiter = limiter_of(current_app)
    caller = current_request().state.required_caller
    quota, forms = limiter.peek(caller, None), limiter.peek_forms(caller)
    days = history(current_project().id, SHOWN_DAYS)
    fixed = {name: terms.quota for name, terms in PLANS.items() if terms.quota}
    return render_template(
        "usage.html",
        windows={each.name: each for each in (*quota.windows, *forms.windows)},
        days=days,
        top=max(2, *(day.served + day.refused for day in days)),
        plans=PLANS,
        offers=fixed | {caller.plan: caller.quota},
        is_degraded=limiter.strategy.is_down,
    )
