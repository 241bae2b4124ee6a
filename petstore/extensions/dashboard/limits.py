"""How often a project may open pages, send forms, sign in and issue keys.

More is refused by a 429, but `TooManyNewKeys` is an error of the form.
"""

from flask import current_app, request
from limits import RateLimitItem, RateLimitItemPerHour

from petstore.errors import ErrorResponse
from petstore.extensions.dashboard.formats import duration
from petstore.models import RuleError
from petstore.models.callers import Caller
from petstore.models.plans import Quota
from petstore.quotas.limiter import project_subject, windows, windows_of
from petstore.quotas.strategy import Decision, Window
from petstore.web.application import current_request
from petstore.web.limiter import limiter_of

PAGES = Quota.of(120, 5_000)  # of one project, over all its sessions
SIGN_INS = Quota.of(60, 1_000)  # of one project, over all its keys
FAILED_SIGN_INS = Quota.of(10, 100)  # of one address, in IPv6 of its /64
NEW_KEYS = RateLimitItemPerHour(100)  # that a project issues and rotates
# Of one key, to sign in and to open the pages of keys after its project has used up its
# quota. So nobody can use up the quota to keep their own key from being revoked.
RESERVE = Quota.of(20, 60)
EXPENSIVE_PAGES = 10  # an export, a printed list or a look at a file counts as so many
TOO_MANY_PAGES = "Your project has opened too many pages"
KEYS_OPEN = " (the page Keys still opens)"


class TooManyNewKeys(RuleError):
    text = "The project has issued {} keys in this hour. Wait for the next hour."


def count_page(caller: Caller, *, has_reserve: bool = False) -> None:
    """Count a page; with `has_reserve`, the key has more when its project has none."""
    decision = _hit(f"pages:{caller.project_id}", *PAGES)
    if has_reserve:
        require_granted(_or_from_reserve(decision, caller), TOO_MANY_PAGES)
    else:
        require_granted(decision, TOO_MANY_PAGES + KEYS_OPEN)


def count_expensive_page(pages: int = EXPENSIVE_PAGES) -> None:
    """Count a page as so many, of which one is counted already."""
    if pages > 1:
        project_id = current_request().state.required_caller.project_id
        decision = _hit(f"pages:{project_id}", *PAGES, cost=pages - 1)
        require_granted(decision, TOO_MANY_PAGES)


def count_form(cost: int = 1) -> None:
    """Count a form for the project, and for a key with limits.

    Programs do not use up this quota. A ban does not refuse a form, and a form that is
    refused does not count towards a ban.
    """
    if request.method == "POST":
        state = current_request().state
        caller = state.required_caller
        of_key = windows_of(caller)[2:]
        strategy = limiter_of(current_app).strategy
        state.decision = strategy.hit_all(_windows_of_forms(caller) + of_key, cost)
        require_granted(state.decision, state.decision.reason(caller.plan))


def count_sign_in(caller: Caller) -> None:
    decision = _hit(f"sign-ins:{caller.project_id}", *SIGN_INS)
    reason = "Too many people have signed in to your project"
    require_granted(_or_from_reserve(decision, caller), reason)


def count_failed_sign_in() -> bool:
    """Count a refused key of an address; return whether it may send another one."""
    limiter, address = limiter_of(current_app), request.remote_addr
    decision = limiter.count_address("sign-in", address, FAILED_SIGN_INS)
    require_granted(decision, "Too many sign-ins from your address have failed")
    return decision.tightest.remaining > 0


def count_new_key() -> None:
    project_id = current_request().state.required_caller.project_id
    if not _hit(f"new-keys:{project_id}", NEW_KEYS).is_granted:
        raise TooManyNewKeys(NEW_KEYS.amount)


def current_windows() -> dict[str, Window]:
    """Return the windows of the project's requests and forms, without counting."""
    caller = current_request().state.required_caller
    both = windows_of(caller)[:2] + _windows_of_forms(caller)
    decision = limiter_of(current_app).strategy.hit_all(both, cost=0)
    return {window.name: window for window in decision.windows}


def require_granted(decision: Decision, reason: str) -> None:
    """Raise 429 for what a limit refuses."""
    if not decision.is_granted:
        seconds = decision.retry_after_seconds
        headers = {"Retry-After": str(seconds)}
        wait = duration(seconds)
        raise ErrorResponse("rate_limit_exceeded", reason, wait, headers=headers)


def _hit(subject: str, *items: RateLimitItem, cost: int = 1) -> Decision:
    return limiter_of(current_app).strategy.hit_all(windows(subject, items), cost)


def _or_from_reserve(decision: Decision, caller: Caller) -> Decision:
    """Return the decision, or if it refuses, the decision of the key's reserve."""
    if decision.is_granted:
        return decision
    reserve = _hit(f"reserve:{caller.key_id}", *RESERVE)
    if reserve.is_granted:
        return reserve
    # A client is served as soon as one of the two has ended.
    return min(decision, reserve, key=lambda refusal: refusal.retry_at_ms)


def _windows_of_forms(caller: Caller) -> list[Window]:
    return windows(f"{project_subject(caller)}/forms", caller.quota, "form")
