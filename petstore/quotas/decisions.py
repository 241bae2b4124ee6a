"""The minute and the day of a quota at one moment, and the subjects that have them."""

import ipaddress
from operator import attrgetter
from typing import NamedTuple

from petstore.clock import (
    MS_PER_DAY,
    MS_PER_MINUTE,
    MS_PER_SECOND,
    whole_seconds_until,
    window_end_ms,
)
from petstore.models.plans import Quota
from petstore.quotas.strategy import Counts

# The names of windows in headers.
WINDOWS = ("minute", "day")
KEY_WINDOWS = ("key-minute", "key-day")
IPV6_NETWORK_BITS = 64
IPV6_SITE_BITS = 48

_remaining = attrgetter("remaining")


class Window(NamedTuple):
    """The limit of a minute or day, how much of it is used, and when it resets."""

    name: str  # in headers
    limit: int
    served: int
    remaining: int  # 0 when a lowered plan allows less than was served
    resets_ms: int
    resets_in_seconds: int

    @classmethod
    def at(
        cls, now_ms: int, name: str, length_ms: int, limit: int, served: int
    ) -> "Window":
        """Return the window that contains the moment."""
        resets_ms = window_end_ms(now_ms, length_ms)
        remaining = max(0, limit - served)
        seconds = whole_seconds_until(resets_ms, now_ms)
        return cls(name, limit, served, remaining, resets_ms, seconds)

    @property
    def allowance(self) -> str:
        """The limit in words, such as `60 requests a minute`."""
        noun = "request" if self.limit == 1 else "requests"
        return f"{self.limit:,} {noun} a {self.name.removeprefix('key-')}"

    def render(self) -> str:
        """Return the window as an item of the header RateLimit."""
        return f'"{self.name}";r={self.remaining};t={self.resets_in_seconds}'


class Decision(NamedTuple):
    """Whether a request is served, and the figures for its response."""

    is_granted: bool
    quota: Quota
    minute: Window
    day: Window
    now_ms: int
    banned_until_ms: int
    key: "Decision | None" = None  # by the limits of the key itself, if it has any
    shows_key_alone: bool = False  # as everybody sees what a public key is told

    @classmethod
    def of(
        cls,
        quota: Quota,
        counts: Counts,
        banned_until_ms: int = 0,
        *,
        hit: int = 0,
        names: tuple[str, str] = WINDOWS,
    ) -> "Decision":
        """Compare what is used of the windows of a hit with the limits of its quota."""
        now_ms, place = counts.now_ms, len(WINDOWS) * hit
        per_minute, per_day = counts.used[place : place + len(WINDOWS)]
        minute = Window.at(
            now_ms, names[0], MS_PER_MINUTE, quota.per_minute, per_minute
        )
        day = Window.at(now_ms, names[1], MS_PER_DAY, quota.per_day, per_day)
        return cls(counts.is_granted, quota, minute, day, now_ms, banned_until_ms)

    @property
    def is_banned(self) -> bool:
        """Whether a ban holds at the moment."""
        return self.now_ms < self.banned_until_ms

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows that are shown, of equally tight ones the first."""
        if self.key is None:
            return self.day, self.minute
        if self.shows_key_alone:
            return self.key.windows
        return self.day, self.key.day, self.minute, self.key.minute

    @property
    def tightest(self) -> Window:
        """The window with the fewest requests remaining, of those that are shown."""
        if self.key is None:
            minute, day = self.minute, self.day
            return minute if minute.remaining < day.remaining else day
        return min(self.windows, key=_remaining)

    @property
    def retry_at_ms(self) -> int:
        """When the ban and every exhausted window have ended."""
        windows = (self.day, self.minute, *(self.key.windows if self.key else ()))
        exhausted = [each for each in windows if not each.remaining]
        return max([self.banned_until_ms, *(each.resets_ms for each in exhausted)])

    @property
    def retry_after_seconds(self) -> int:
        """How long a refused client has to wait until it is served."""
        return whole_seconds_until(self.retry_at_ms, self.now_ms)

    def reason(self, plan: str) -> str:
        """Return in words whose limit refuses a request to a project on the plan."""
        if self.tightest.remaining:  # one that is not shown refuses it
            return "The project of this key has no requests left"
        is_of_key = self.tightest.name in KEY_WINDOWS
        who = "This key" if is_of_key else plan.capitalize()
        return f"{who} allows {self.tightest.allowance}"

    def headers(self) -> list[tuple[str, str]]:
        """Return X-RateLimit-* for the tightest window, and RateLimit* for all.

        See specification section 8 and draft-ietf-httpapi-ratelimit-headers-11.
        """
        minute, day, tightest, key = self.minute, self.day, self.tightest, self.key
        if key and self.shows_key_alone:
            return key.headers()
        policy = (
            f'"{minute.name}";q={minute.limit};w=60, "{day.name}";q={day.limit};w=86400'
        )
        figures = f"{minute.render()}, {day.render()}"
        if key:
            most = key.quota
            policy += f', "key-minute";q={most.per_minute};w=60'
            policy += f', "key-day";q={most.per_day};w=86400'
            figures += f", {key.minute.render()}, {key.day.render()}"
        remaining, resets_ms = tightest.remaining, tightest.resets_ms
        if self.is_banned:
            remaining, resets_ms = 0, self.retry_at_ms
        return [
            ("X-RateLimit-Limit", str(tightest.limit)),
            ("X-RateLimit-Remaining", str(remaining)),
            ("X-RateLimit-Reset", str(-(-resets_ms // MS_PER_SECOND))),
            ("RateLimit-Policy", policy),
            ("RateLimit", figures),
        ]


def project_subject(project_id: int) -> str:
    """Return the subject for a project."""
    return f"project:{project_id}"


def key_subject(project_id: int, key_id: int) -> str:
    """Return the subject for the limits of one key."""
    return f"project:{project_id}/key:{key_id}"


def address_subjects(what: str, address: str | None) -> list[str]:
    """Return the subjects for what comes from an address: for IPv6 its /64 and /48."""
    network, *site = _networks(address or "")
    if not site:
        return [f"{what}:{network}"]
    return [f"{what}:{site[0]}/{network}", f"{what}:{site[0]}"]


def _networks(address: str) -> list[str]:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket has no address; a proxy may send anything
        return ["unknown"]
    if ip.version == 4:
        return [str(ip)]
    if ip.ipv4_mapped:
        return [str(ip.ipv4_mapped)]
    network = ipaddress.ip_network((ip, IPV6_NETWORK_BITS), strict=False)
    site = network.supernet(new_prefix=IPV6_SITE_BITS)
    return [str(network.network_address), str(site)]
