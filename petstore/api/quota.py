"""Counts every request under /v1, strangers too, and shows the figures."""

from flask import Request, Response, g

from petstore.errors import KeyBanned, RateLimitExceeded
from petstore.quotas.headers import render
from petstore.quotas.limiter import Limiter
from petstore.quotas.windows import Decision
from petstore.responses import put


def count(limiter: Limiter, request: Request) -> None:
    """Take the request from the quota of the caller, or of a stranger's address."""
    state = g._get_current_object()
    state.decision = decision = limiter.take(state.caller, request.remote_addr)
    if not decision.is_granted:
        raise _refusal(decision)


def show(limiter: Limiter, request: Request, response: Response) -> None:
    """Put the figures on an answer.

    Where it was given before the caller was known, they are those of the address.
    """
    decision = g.get("decision") or limiter.look(None, request.remote_addr)
    put(response, render(decision))


def _refusal(decision: Decision) -> RateLimitExceeded | KeyBanned:
    seconds = decision.retry_after_seconds
    headers = {"Retry-After": str(seconds)}
    if decision.is_banned:
        return KeyBanned(
            "This API key is banned for a while, for going on after 429; "
            f"wait {seconds} seconds.",
            headers,
        )
    return RateLimitExceeded(
        f"The plan's limit is reached; wait {seconds} seconds.", headers
    )
