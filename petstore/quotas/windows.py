"""The windows of a quota at one moment, and what they mean for a request."""

from typing import NamedTuple

from limits import RateLimitItem

from petstore.clock import MS_PER_SECOND, whole_seconds_until
from petstore.quotas.plans import Quota
from petstore.quotas.subjects import Subject


class Claim(NamedTuple):
    """A hit that a request asks the counter store for, in every window of a quota."""

    subject: Subject
    quota: Quota
    key_id: int | None = None
    banned_until_ms: int = 0


class Tally(NamedTuple):
    """The answer of the counter store, by its own clock."""

    is_granted: bool
    served: tuple[int, ...]  # in each window of the quota
    now_ms: int
    strikes: int = 0  # refusals that count towards a ban; 0 if this one does not


class Day(NamedTuple):
    """The requests of a subject on one UTC day, counted from 1970-01-01."""

    day: int
    served: int
    refused: int


class Window(NamedTuple):
    """One limit, how much of it is used, and when it resets."""

    item: RateLimitItem
    served: int
    resets_ms: int
    resets_in_seconds: int

    @property
    def remaining(self) -> int:
        """Requests left; 0 when a lowered plan allows less than was served."""
        return max(0, self.item.amount - self.served)


class Decision(NamedTuple):
    """Whether a request is served, and the figures for its response."""

    is_granted: bool
    windows: tuple[Window, ...]
    now_ms: int
    banned_until_ms: int

    @property
    def is_banned(self) -> bool:
        """Whether a ban holds at the moment."""
        return self.now_ms < self.banned_until_ms

    @property
    def tightest(self) -> Window:
        """The window with the fewest requests remaining; of equal ones the longest."""
        return min(reversed(self.windows), key=lambda window: window.remaining)

    @property
    def free_again_ms(self) -> int:
        """When the ban and every exhausted window have ended."""
        ends = [w.resets_ms for w in self.windows if not w.remaining]
        return max([self.banned_until_ms, *ends])

    @property
    def retry_after_seconds(self) -> int:
        """How long a refused client has to wait until it is served."""
        return whole_seconds_until(self.free_again_ms, self.now_ms)

    def headers(self) -> list[tuple[str, str]]:
        """Return X-RateLimit-* for the tightest window, and RateLimit* for all.

        See specification section 8 and draft-ietf-httpapi-ratelimit-headers-11.
        """
        tightest = self.tightest
        remaining, resets_ms = tightest.remaining, tightest.resets_ms
        if self.is_banned:
            remaining, resets_ms = 0, self.free_again_ms
        policies, limits = [], []
        for window in self.windows:
            item = window.item
            name, seconds = item.GRANULARITY.name, item.get_expiry()
            policies.append(f'"{name}";q={item.amount};w={seconds}')
            limits.append(f'"{name}";r={window.remaining};t={window.resets_in_seconds}')
        return [
            ("X-RateLimit-Limit", str(tightest.item.amount)),
            ("X-RateLimit-Remaining", str(remaining)),
            ("X-RateLimit-Reset", str(-(-resets_ms // MS_PER_SECOND))),
            ("RateLimit-Policy", ", ".join(policies)),
            ("RateLimit", ", ".join(limits)),
        ]


def decide(claim: Claim, tally: Tally, banned_until_ms: int) -> Decision:
    """Compare the figures of the store with the limits of the claim."""
    now_ms = tally.now_ms
    windows = [
        _window(item, served, now_ms)
        for item, served in zip(claim.quota, tally.served, strict=True)
    ]
    return Decision(tally.is_granted, tuple(windows), now_ms, banned_until_ms)


def _window(item: RateLimitItem, served: int, now_ms: int) -> Window:
    length_ms = item.get_expiry() * MS_PER_SECOND
    resets_ms = (now_ms // length_ms + 1) * length_ms
    return Window(item, served, resets_ms, whole_seconds_until(resets_ms, now_ms))
