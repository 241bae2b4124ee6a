"""The windows of a request at one moment, and the subjects that have them."""

import ipaddress
from collections.abc import Sequence
from typing import NamedTuple

from petstore.clock import MS_PER_SECOND
from petstore.quotas.strategy import Counts, Hit

KEY = "key-"  # what the names of the windows of a key begin with
FORM = "form-"  # and of those of the forms of the dashboard
IPV6_NETWORK_BITS = 64
IPV6_SITE_BITS = 48


class Window(NamedTuple):
    """A minute or day: how much of it is used, and when it resets."""

    name: str  # in headers
    seconds: int
    limit: int
    served: int
    remaining: int  # 0 when a lowered plan allows less than was served
    resets_ms: int
    resets_in_seconds: int

    @classmethod
    def at(
        cls, now_ms: int, name: str, seconds: int, limit: int, served: int
    ) -> "Window":
        """Return the window that contains the moment."""
        length_ms = seconds * MS_PER_SECOND
        left_ms = length_ms - now_ms % length_ms
        left, in_seconds = max(0, limit - served), -(-left_ms // MS_PER_SECOND)
        return cls(name, seconds, limit, served, left, now_ms + left_ms, in_seconds)

    def renewed(self, now_ms: int) -> "Window":
        """Return the window of a later moment, with what is still used."""
        served = self.served if now_ms < self.resets_ms else 0
        return self.at(now_ms, self.name, self.seconds, self.limit, served)

    @property
    def allowance(self) -> str:
        """The limit in words, such as `60 requests a minute`."""
        what, _, unit = self.name.rpartition("-")
        noun = "form" if f"{what}-" == FORM else "request"
        return f"{self.limit:,} {noun}{'s' * (self.limit != 1)} a {unit}"


class Decision(NamedTuple):
    """Whether a request is served, and the figures for its response."""

    is_granted: bool
    windows: Sequence[Window]  # that are shown: of the project, then of the key
    now_ms: int
    retry_at_ms: int  # when the ban and every window without room have ended
    is_banned: bool

    @classmethod
    def on(
        cls,
        hits: Sequence[Hit],
        counts: Counts,
        banned_until_ms: int = 0,
        *,
        cost: int = 1,
        is_public: bool = False,
    ) -> "Decision":
        """Compare what is used of the windows of the hits with their limits.

        Everybody sees what a public key is told: the windows of the key alone.
        """
        now_ms, used = counts.now_ms, iter(counts.used)
        windows: list[Window] = []
        for hit in hits:
            of_hit = [
                Window.at(
                    now_ms,
                    hit.prefix + item.GRANULARITY.name,
                    item.get_expiry(),
                    item.amount,
                    next(used),
                )
                for item in hit.limits
            ]
            windows = of_hit + windows
        ends = [window.resets_ms for window in windows if window.remaining < cost]
        return cls(
            counts.is_granted,
            windows[-len(hits[0].limits) :] if is_public else windows,
            now_ms,
            max([banned_until_ms, *ends]),
            now_ms < banned_until_ms,
        )

    @property
    def tightest(self) -> Window:
        """The window with the fewest requests remaining, of equal ones the longest."""
        return min(self.windows, key=lambda each: (each.remaining, -each.seconds))

    @property
    def retry_after_seconds(self) -> int:
        """How long a refused client has to wait until it is served."""
        return max(0, -((self.now_ms - self.retry_at_ms) // MS_PER_SECOND))

    def renewed(self, now_ms: int) -> "Decision":
        windows = [window.renewed(now_ms) for window in self.windows]
        is_banned = self.is_banned and now_ms < self.retry_at_ms
        return self._replace(windows=windows, now_ms=now_ms, is_banned=is_banned)

    def reason(self, plan: str) -> str:
        """Return in words whose limit refuses a request to a project on the plan."""
        tightest = self.tightest
        if tightest.remaining:  # one that is not shown refuses it
            return "The project of this key has no requests left"
        who = "This key" if tightest.name.startswith(KEY) else plan.capitalize()
        return f"{who} allows {tightest.allowance}"

    def headers(self) -> list[tuple[str, str]]:
        """Return X-RateLimit-* for the tightest window, and RateLimit* for all.

        See specification section 8 and draft-ietf-httpapi-ratelimit-headers-11.
        """
        tightest = self.tightest
        policy = [f'"{w.name}";q={w.limit};w={w.seconds}' for w in self.windows]
        figures = [
            f'"{w.name}";r={w.remaining};t={w.resets_in_seconds}' for w in self.windows
        ]
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


def project_subject(project_id: int) -> str:
    return f"project:{project_id}"


def forms_subject(project_id: int) -> str:
    return f"forms:{project_id}"


def key_subject(project_id: int, key_id: int) -> str:
    return f"project:{project_id}/key:{key_id}"


def address_subjects(what: str, address: str | None) -> list[str]:
    """Return the subjects for what comes from an address: for IPv6 its /64 and /48."""
    try:
        ip = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:  # a Unix socket has no address; a proxy may send anything
        return [f"{what}:unknown"]
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.version == 4:
        return [f"{what}:{ip}"]
    network, site = (
        ipaddress.ip_network((ip, bits), strict=False).network_address
        for bits in (IPV6_NETWORK_BITS, IPV6_SITE_BITS)
    )
    return [f"{what}:{site}/{network}", f"{what}:{site}"]
