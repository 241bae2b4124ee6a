"""What clients have sent, and what they were told."""

import re
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from tests.simulation.plan import PAGE_KEY

UNANSWERED = 0
CONFLICTS = ("pet_not_available", "order_closed")  # that are stored like successes
DAY = re.compile(r'"day";r=(\d+)')


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

    @property
    def is_acknowledged(self) -> bool:
        """Whether the client knows that it was carried out."""
        return 200 <= self.status < 300

    @property
    def is_carried_out(self) -> bool:
        """Whether it was acknowledged, or refused by the rules of the shop."""
        code = self.json.get("code") if self.status == HTTPStatus.CONFLICT else ""
        return self.is_acknowledged or code in CONFLICTS

    @property
    def is_for_page(self) -> bool:
        """Whether it was sent with a key for a web page."""
        return self.key == PAGE_KEY

    def day_served(self, per_day: int) -> int | None:
        """Return how many requests of the project were served today, if it says so."""
        figures = (
            self.headers.get("ratelimit-policy", ""),
            self.headers.get("ratelimit"),
        )
        found = DAY.search(figures[1] or "")
        if not found or f'"day";q={per_day};' not in figures[0]:
            return None
        return per_day - int(found[1])

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
    keys: list[str]
    pets: list[int] = field(default_factory=list)
    orders: list[int] = field(default_factory=list)
    # By the number of the key: when its end was asked for, and when it was final.
    ends_from: dict[int, float] = field(default_factory=dict)
    revoked_at: dict[int, float] = field(default_factory=dict)


@dataclass
class Reader:
    """A client that has followed a list to its end."""

    tenant: str
    last: int
    seen: set[int]


@dataclass
class History:
    """All of it, for the rules."""

    tenants: dict[str, Tenant]
    entries: list[Entry] = field(default_factory=list)
    readers: list[Reader] = field(default_factory=list)
    # Hostile connections: who, when it began, and when it was closed.
    held: list[tuple[str, float, float]] = field(default_factory=list)
