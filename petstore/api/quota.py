"""Counts every request under /v1 and shows the figures in its response."""

from flask import Request, Response

from petstore.errors import KeyBanned, RateLimitExceeded
from petstore.quotas.limiter import Limiter
from petstore.quotas.windows import Decision
from petstore.routing import current_g


def count(limiter: Limiter, request: Request) -> None:
    """Count the request for its caller, or for the client address without a caller."""
    g = current_g()
    g.decision = decision = limiter.take(g.caller, request.remote_addr)
    if not decision.is_granted:
        raise _refusal(decision)


def add_quota_headers(limiter: Limiter, request: Request, response: Response) -> None:
    """Add the figures of the quota to a response.

    If it was given before the caller was known, they are those of the client address.
    """
    decision = current_g().get("decision") or limiter.peek(None, request.remote_addr)
    response.headers.extend(decision.headers())


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
