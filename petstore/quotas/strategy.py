"""A strategy of limits: windows of the UTC minute, hour and day, decided together.

The fixed windows of limits begin with the first hit, by the clock of the client. Their
keys contain the limit, so a change of plan would begin anew. And limits hits one window
after the other, so a request that the day refuses would have used up the minute.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Self

from limits import RateLimitItem
from limits.storage import Storage
from limits.strategies import RateLimiter
from limits.util import WindowStats

from petstore.clock import MS_PER_SECOND

KEY = "key"  # the names of the windows of a key begin with it


class Ban(NamedTuple):
    """Until when a key is banned; without its id, refusals lead to no ban."""

    until_ms: int = 0
    key_id: int | None = None


NO_BAN = Ban()


class Counts(NamedTuple):
    """The reply of a storage, by its own clock."""

    is_granted: bool
    now_ms: int
    strikes: int  # refusals that count towards a ban; 0 if this one does not
    windows: Sequence[tuple[int, int]]  # how much is used of each, and when it ends


class Window(NamedTuple):
    """A minute, hour or day of a subject: how much of it is used, when it resets."""

    key: str  # in a storage
    seconds: int
    limit: int
    name: str  # in headers
    served: int = 0
    resets_ms: int = 0
    remaining: int = 0  # also if the plan was lowered to less than was served
    resets_in_seconds: int = 0

    @classmethod
    def of(cls, item: RateLimitItem, *identifiers: str, prefix: str = "") -> Self:
        """Return the window of an item; its key does not contain the limit."""
        seconds = item.get_expiry()
        key = f"{'/'.join(identifiers)}/{seconds}"
        unit = item.GRANULARITY.name
        return cls(key, seconds, item.amount, f"{prefix}-{unit}" if prefix else unit)

    def at(self, now_ms: int, served: int, ends_ms: int) -> "Window":
        """Return the window at a moment; nothing of it is used if it has ended."""
        if ends_ms <= now_ms:
            ends_ms, served = self.end(now_ms), 0
        left = max(0, self.limit - served)
        in_seconds = -((now_ms - ends_ms) // MS_PER_SECOND)
        return Window(*self[:4], served, ends_ms, left, in_seconds)

    def end(self, now_ms: int) -> int:
        """Return the end of the UTC minute, hour or day that contains the moment."""
        length_ms = self.seconds * MS_PER_SECOND
        return (now_ms // length_ms + 1) * length_ms

    @property
    def allowance(self) -> str:
        """The limit in words: `60 requests a minute`, or what else its name counts."""
        prefix, _, unit = self.name.rpartition("-")
        noun = prefix.removeprefix(KEY) or "request"
        return f"{self.limit:,} {noun}{'s' * (self.limit != 1)} a {unit}"


class Decision(NamedTuple):
    """Whether a request is served, and the figures for its response."""

    is_granted: bool
    windows: Sequence[Window]  # of the project, then of the key
    now_ms: int
    cost: int = 1
    banned_until_ms: int = 0
    strikes: int = 0  # refusals that count towards a ban; 0 if this one does not
    # Everybody may know a public key, so its responses show its own windows alone.
    is_public: bool = False

    @property
    def shown(self) -> Sequence[Window]:
        return self.windows[-2:] if self.is_public else self.windows

    @property
    def is_banned(self) -> bool:
        return self.now_ms < self.banned_until_ms

    @property
    def retry_at_ms(self) -> int:
        """When the ban and every window without room have ended."""
        ends = [each.resets_ms for each in self.windows if each.remaining < self.cost]
        return max([self.banned_until_ms, *ends])

    @property
    def tightest(self) -> Window:
        """The window with the fewest requests remaining, of equal ones the longest."""
        return min(self.shown, key=lambda each: (each.remaining, -each.seconds))

    @property
    def retry_after_seconds(self) -> int:
        """How long a refused client has to wait until it is served."""
        return max(0, -((self.now_ms - self.retry_at_ms) // MS_PER_SECOND))

    def renewed(self, now_ms: int) -> Self:
        windows = [w.at(now_ms, w.served, w.resets_ms) for w in self.windows]
        return self._replace(windows=windows, now_ms=now_ms)

    def reason(self, plan: str) -> str:
        """Return in words whose limit refuses a request of a project on the plan."""
        tightest = self.tightest
        if tightest.remaining:  # a window that is not shown refuses it
            return "The project of this key has no requests left"
        who = "this key" if tightest.name.startswith(KEY) else plan
        return f"{who.capitalize()} allows {tightest.allowance}"

    def headers(self) -> list[tuple[str, str]]:
        """Return X-RateLimit-* for the tightest window, and RateLimit* for all.

        See specification section 8 and draft-ietf-httpapi-ratelimit-headers-11.
        """
        tightest, shown = self.tightest, self.shown
        policy = [f'"{w.name}";q={w.limit};w={w.seconds}' for w in shown]
        figures = [f'"{w.name}";r={w.remaining};t={w.resets_in_seconds}' for w in shown]
        remaining, resets_ms = tightest.remaining, tightest.resets_ms
        if self.is_banned:
            remaining, resets_ms = 0, self.retry_at_ms
        return [
            ("X-RateLimit-Limit", str(tightest.limit)),
            ("X-RateLimit-Remaining", str(remaining)),
            ("X-RateLimit-Reset", str(-(-resets_ms // MS_PER_SECOND))),
            ("RateLimit-Policy", ", ".join(policy)),
            ("RateLimit", ", ".join(figures)),
        ]


class AlignedWindowStorage(Storage):
    """A storage of limits that counts in several windows together."""

    @abstractmethod
    def acquire_windows(
        self, windows: Sequence[Window], amount: int = 1, ban: Ban = NO_BAN
    ) -> Counts:
        """Count a request in all of the windows, or in none.

        With an amount of 0 it only looks, and writes and grants nothing. A refusal
        counts towards a ban of the key that `ban` names. All requests pass the windows
        of a project in the same order, so that none waits for another in a circle.

        This is one atomic step: however many requests come at the same time, exactly as
        many are granted as the windows allow.
        """


class AlignedWindowRateLimiter(RateLimiter):
    """Fixed windows that begin with the UTC minute, hour or day."""

    storage: AlignedWindowStorage

    def hit_all(
        self, windows: Sequence[Window], cost: int = 1, ban: Ban = NO_BAN
    ) -> Decision:
        """Consume the limits of all windows, or none; with a cost of 0, look."""
        counts = self.storage.acquire_windows(windows, cost, ban)
        is_granted, now_ms, strikes, used = counts
        pairs = zip(windows, used, strict=True)
        found = [window.at(now_ms, *used_and_end) for window, used_and_end in pairs]
        return Decision(is_granted, found, now_ms, cost or 1, ban.until_ms, strikes)

    def hit(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        return self.hit_all([Window.of(item, *identifiers)], cost).is_granted

    def test(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        return self.get_window_stats(item, *identifiers).remaining >= cost

    def get_window_stats(self, item: RateLimitItem, *identifiers: str) -> WindowStats:
        [window] = self.hit_all([Window.of(item, *identifiers)], cost=0).windows
        return WindowStats(window.resets_ms / MS_PER_SECOND, window.remaining)

    def clear(self, item: RateLimitItem, *identifiers: str) -> None:
        self.storage.clear(Window.of(item, *identifiers).key)
