"""What clients have sent, and what they were told."""

import re
from dataclasses import dataclass, field
from math import inf
from typing import Any
from urllib.parse import parse_qsl

from tests.together.simulation.plan import PAGE_KEY

UNANSWERED = 0
CONFLICTS = ("pet_not_available", "order_closed")  # that are stored like successes
FIGURES = re.compile(r'"([a-z-]+)";[qr]=(\d+)')


@dataclass
class Entry:
    """A request, and its response if there was one."""

    client: str
    tenant: str
    key: int  # the number of the tenant's key
    operation: str
    method: str
    path: str
    body: Any = None
    idempotency_key: str | None = None
    sent_at: float = 0.0  # when its first byte was sent
    ended_at: float = 0.0
    status: int = UNANSWERED
    reason: str = ""  # why there was no response
    headers: dict[str, str] = field(default_factory=dict)
    json: Any = None
    waited: float = 0.0  # from the last byte of the request to the first of the answer
    is_reused: bool = False  # the connection has carried a request before
    is_form: bool = False  # of the dashboard
    network: str = ""  # that it came from
    origin: str | None = None  # of a page
    signed_in_at: float | None = None  # when its session was known to have begun

    @property
    def is_acknowledged(self) -> bool:
        """Whether the client knows that it was carried out."""
        return 200 <= self.status < 300

    @property
    def is_carried_out(self) -> bool:
        """Whether it was acknowledged, or refused by the rules of the shop."""
        return self.is_acknowledged or self.code in CONFLICTS

    @property
    def leads_to_sign_in(self) -> bool:
        """Whether somebody who is not signed in has asked for a page."""
        location = self.headers.get("location", "")
        return self.status == 303 and location.startswith("/dashboard/sign-in")

    @property
    def is_for_page(self) -> bool:
        """Whether it was sent with a key for a web page."""
        return self.key == PAGE_KEY

    @property
    def code(self) -> str:
        """The code of an error."""
        return self.json.get("code", "") if isinstance(self.json, dict) else ""

    @property
    def figures(self) -> dict[str, tuple[int, int]]:
        """The limit of each window, and how many requests are left."""
        policy = dict(FIGURES.findall(self.headers.get("ratelimit-policy", "")))
        left = dict(FIGURES.findall(self.headers.get("ratelimit", "")))
        return {name: (int(policy[name]), int(left[name])) for name in left}

    def reset_of(self, window: str) -> str | None:
        """When a window ends; None if the headers speak of another one."""
        tightest = ("x-ratelimit-limit", "x-ratelimit-remaining")
        shown = tuple(int(self.headers[name]) for name in tightest)
        # A HEAD does not say whether its key is banned.
        may_be_banned = self.status == 429 and self.code != "rate_limit_exceeded"
        if may_be_banned or shown != self.figures[window]:
            return None
        return self.headers["x-ratelimit-reset"]

    @property
    def page(self) -> tuple[dict[str, Any], float, float]:
        """The filters of a list, and the ids between which it shows all."""
        filters: dict[str, Any] = dict(parse_qsl(self.path.partition("?")[2]))
        limit, after = int(filters.pop("limit", 20)), int(filters.pop("after", -1))
        for name in filters.keys() & {"categoryId", "petId"}:
            filters[name] = int(filters[name])
        is_full = len(self.json) >= limit
        return filters, after, self.json[-1]["id"] if is_full else inf

    @property
    def row_id(self) -> int:
        """The id at the end of its path."""
        return int(self.path.rpartition("/")[2])

    @property
    def is_replay(self) -> bool:
        """Whether the response was stored before."""
        return "idempotent-replayed" in self.headers

    def __str__(self) -> str:
        told = self.status or self.reason or "nothing yet"
        return (
            f"{self.client}: {self.method} {self.path} at {self.sent_at:.3f}"
            f" -> {told} at {self.ended_at:.3f}"
        )


@dataclass
class Tenant:
    """A project, as its clients know it."""

    name: str
    id: int
    per_minute: int
    per_day: int
    rows: float  # that it may hold
    keys: list[str]
    pets: list[int] = field(default_factory=list)
    orders: list[int] = field(default_factory=list)
    revoked_at: dict[int, float] = field(default_factory=dict)  # by the key's number
    # When it was suspended and resumed; the last time may be to come.
    suspended: list[tuple[float, float]] = field(default_factory=list)

    def is_suspended(self, since: float, until: float) -> bool:
        """Whether it was suspended at some time between these two."""
        return any(begun <= until and since <= over for begun, over in self.suspended)


@dataclass
class History:
    """All requests of a run, for the rules."""

    tenants: dict[str, Tenant]
    proxies: int  # that are trusted
    entries: list[Entry] = field(default_factory=list)
    # Hostile connections: who, when it began, and when it was closed.
    held: list[tuple[str, float, float]] = field(default_factory=list)
