"""The rate-limit headers of every answer under /v1."""

from petstore.clock import MS_PER_SECOND
from petstore.quotas.windows import Decision


def render(decision: Decision) -> list[tuple[str, str]]:
    """X-RateLimit-* (specification section 8) for the tightest window, and both.

    RateLimit and RateLimit-Policy: draft-ietf-httpapi-ratelimit-headers-11.
    """
    tightest, minute, day = decision.tightest, decision.minute, decision.day
    remaining, resets_ms = tightest.remaining, tightest.resets_ms
    if decision.is_banned:
        remaining, resets_ms = 0, decision.free_again_ms
    policy = f'"minute";q={minute.item.amount};w=60, "day";q={day.item.amount};w=86400'
    minute_left = f'"minute";r={minute.remaining};t={minute.resets_in_seconds}'
    day_left = f'"day";r={day.remaining};t={day.resets_in_seconds}'
    return [
        ("X-RateLimit-Limit", str(tightest.item.amount)),
        ("X-RateLimit-Remaining", str(remaining)),
        ("X-RateLimit-Reset", str(-(-resets_ms // MS_PER_SECOND))),
        ("RateLimit-Policy", policy),
        ("RateLimit", f"{minute_left}, {day_left}"),
    ]
