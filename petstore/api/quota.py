"""Counts every request under /v1 and shows the figures in its response."""

from petstore.errors import ErrorResponse
from petstore.models.callers import Caller
from petstore.quotas.allowances import STRANGERS
from petstore.quotas.decisions import Decision
from petstore.quotas.limiter import Limiter
from petstore.web.application import ApplicationRequest


def count(limiter: Limiter, request: ApplicationRequest) -> None:
    """Count the request for its caller, or for the client address without a caller."""
    state = request.state
    state.decision = decision = limiter.count(state.caller, request.remote_addr)
    if not decision.is_granted:
        raise _refusal(decision, state.caller)


def headers(limiter: Limiter, request: ApplicationRequest) -> list[tuple[str, str]]:
    """Return the figures of the quota for a response.

    A response to a request that was not counted has those of the client address. Where
    too many requests are under way, or a store is away, no store is asked for them.
    """
    state, address = request.state, request.remote_addr
    if state.error_code == "service_unavailable" and not state.decision:
        return limiter.last_known(address).headers()
    decision = state.decision or limiter.peek(None, address)
    return decision.headers()


def _refusal(decision: Decision, caller: Caller | None) -> ErrorResponse:
    seconds = decision.retry_after_seconds
    wait = "1 second" if seconds == 1 else f"{seconds:,} seconds"
    headers = {"Retry-After": str(seconds)}
    if decision.is_banned:
        return ErrorResponse("api_key_banned", wait, headers=headers)
    tightest = decision.tightest
    if tightest.is_of_key:
        who = "This key allows"
    elif caller:
        who = f"{caller.plan.capitalize()} allows"
    else:
        network = "address" if decision.quota == STRANGERS else "IPv6 /48"
        who = f"Without a valid API key, an {network} may send"
    allowed = f"{who} {tightest.allowance}"
    return ErrorResponse("rate_limit_exceeded", allowed, wait, headers=headers)
