"""The two windows of a quota at one moment, and what they mean for a request."""

from typing import NamedTuple

from limits import RateLimitItem

from petstore.clock import MS_PER_SECOND, whole_seconds_until
from petstore.quotas.plans import Quota
from petstore.quotas.subjects import Subject


class Claim(NamedTuple):
    """What a request asks of the counter store."""

    subject: Subject
    quota: Quota
    key_id: int | None = None
    banned_until_ms: int = 0


class Tally(NamedTuple):
    """What the counter store answers, by its own clock."""

    is_granted: bool
    minute_served: int
    day_served: int
    now_ms: int
    strikes: int = 0


class Day(NamedTuple):
    """The requests of a subject on one UTC day, counted from 1970-01-01."""

    day: int
    served: int
    refused: int


class Window(NamedTuple):
    """One limit, what was served of it, and when it begins anew."""

    item: RateLimitItem
    served: int
    resets_ms: int
    resets_in_seconds: int

    @property
    def remaining(self) -> int:
        """Requests left; none when a lowered plan allows less than was served."""
        return max(0, self.item.amount - self.served)


class Decision(NamedTuple):
    """Whether a request is served, and the figures that go into its answer."""

    is_granted: bool
    minute: Window
    day: Window
    now_ms: int
    banned_until_ms: int

    @property
    def is_banned(self) -> bool:
        """Whether a ban holds at this moment."""
        return self.now_ms < self.banned_until_ms

    @property
    def tightest(self) -> Window:
        """The window with the fewest requests remaining, the day where both agree."""
        minute, day = self.minute, self.day
        return minute if minute.remaining < day.remaining else day

    @property
    def free_again_ms(self) -> int:
        """When the ban and every exhausted window have ended."""
        ends = [w.resets_ms for w in (self.minute, self.day) if not w.remaining]
        return max([self.banned_until_ms, *ends])

    @property
    def retry_after_seconds(self) -> int:
        """How long a refused client has to wait to be served."""
        return whole_seconds_until(self.free_again_ms, self.now_ms)


def decide(claim: Claim, tally: Tally, banned_until_ms: int) -> Decision:
    """Put the store's figures beside the limits that hold for the claim."""
    return Decision(
        is_granted=tally.is_granted,
        minute=_window(claim.quota.minute, tally.minute_served, tally.now_ms),
        day=_window(claim.quota.day, tally.day_served, tally.now_ms),
        now_ms=tally.now_ms,
        banned_until_ms=banned_until_ms,
    )


def _window(item: RateLimitItem, served: int, now_ms: int) -> Window:
    length_ms = item.get_expiry() * MS_PER_SECOND
    resets_ms = (now_ms // length_ms + 1) * length_ms
    return Window(item, served, resets_ms, whole_seconds_until(resets_ms, now_ms))
