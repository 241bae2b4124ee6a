"""The rights of a key: its role, limits of its own, and the origins of its pages."""

import re
from dataclasses import dataclass, field

import idna

from petstore.models import RuleError
from petstore.models.plans import LimitMissing, Quota

# Each role may do all that the roles before it may do.
PUBLIC, READ, WRITE, FULL = ROLES = ("public", "read", "write", "full")

MAY = {
    PUBLIC: "This key may only read animals and categories.",
    READ: "This key may only read.",
    WRITE: "This key may only read and write animals, categories and orders.",
}
TAKES = {
    READ: "This takes a key that may read orders.",
    WRITE: "This takes a key that may write.",
    FULL: "This takes a full key.",
}
MAX_ORIGINS = 10
MAX_EXPIRY_DAYS = 36_500
# How long a rotated key still works.
MAX_GRACE_SECONDS = 31_536_000
DEFAULT_GRACE_SECONDS = 86_400
MAX_ORIGIN_LENGTH = 300
MAX_PORT = 65_535
DEFAULT_PORTS = {"http": 80, "https": 443}
_ORIGIN = re.compile(r"(https?)://([^/?#@:\[\]]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?")
_PAGE_BEGINS = re.compile("(?<![:/])(?=[/?#])")  # where the origin of an address ends
# What browsers take for a host: labels, or an IPv6 address in brackets.
_LABEL = "(?!-)[a-z0-9-]{1,63}(?<!-)"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?|\[.*")


class KeyNotAllowed(RuleError):
    code = "key_not_allowed"


def is_allowed(role: str, takes: str) -> bool:
    return ROLES.index(role) >= ROLES.index(takes)


def require_role(role: str, takes: str) -> None:
    """Raise `KeyNotAllowed` for a key whose role is not enough."""
    if not is_allowed(role, takes):
        raise KeyNotAllowed(role_refusal(role, takes))


def role_refusal(role: str, takes: str) -> str:
    """Return what a key of this role may do, and which role is needed."""
    return f"{MAY[role]} {TAKES[takes]}"


class OneLimitMissing(LimitMissing):
    text = "A key has a limit per minute and a limit per day, or neither."


class LimitTooHigh(RuleError):
    text = (
        "A key may have at most the limits of its project, which are {:,} requests a "
        "minute and {:,} a day."
    )


class InvalidOrigin(RuleError):
    text = (
        "{!r:.200} is not the address of a web page; write one like "
        "https://shelter.example or http://localhost:8080."
    )


def normal_origin(text: str) -> str:
    """Return an origin as browsers send it: in lower case, without a default port.

    Raises `InvalidOrigin`.
    """
    parts = _ORIGIN.fullmatch(text.lower()) if len(text) <= MAX_ORIGIN_LENGTH else None
    if parts is None:
        raise InvalidOrigin(text)
    scheme, host, given = parts.groups()
    port = int(given or DEFAULT_PORTS[scheme])
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
    except ValueError:
        raise InvalidOrigin(text) from None
    if not (_HOST.fullmatch(name) and 1 <= port <= MAX_PORT):
        raise InvalidOrigin(text)
    is_default = port == DEFAULT_PORTS[scheme]
    return f"{scheme}://{name}" if is_default else f"{scheme}://{name}:{port}"


def _of_address(text: str) -> tuple[str, bool]:
    """Return the origin of an address, and whether it is that of a single page."""
    origin, *page = _PAGE_BEGINS.split(text, maxsplit=1)
    return normal_origin(origin), page not in ([], ["/"])


def is_one_of(origin: str, origins: str) -> bool:
    """Return whether an origin is among these, which are separated by spaces."""
    try:
        return normal_origin(origin) in origins.split()
    except InvalidOrigin:
        return False


@dataclass(frozen=True)
class Grant:
    """The role of a key, its limits if it has any, and the origins of its pages.

    Raises `RuleError` if one of them is not valid, or they contradict each other.
    """

    role: str = FULL
    per_minute: int | None = None
    per_day: int | None = None
    origins: tuple[str, ...] = ()
    note: str = field(default="", init=False)  # what people may not expect

    def __post_init__(self) -> None:
        if (self.per_minute is None) != (self.per_day is None):
            raise OneLimitMissing
        if self.role == PUBLIC and self.per_minute is None:
            text = "A key for a web page needs limits, because everybody can take it."
            raise LimitMissing(text=text)
        if self.origins and self.role != PUBLIC:
            text = "Only a key for a web page, of the role public, takes origins."
            raise InvalidOrigin(text=text)
        if len(self.origins) > MAX_ORIGINS:
            text = "A key takes at most {} origins."
            raise InvalidOrigin(MAX_ORIGINS, text=text)
        # Without repetitions, and as browsers write them.
        origins: dict[str, bool] = {}
        for origin, is_page in map(_of_address, self.origins):
            origins[origin] = is_page or origins.get(origin, False)
        object.__setattr__(self, "origins", tuple(origins))
        if of_pages := ", ".join(filter(origins.get, origins)):
            note = "All pages of a website may use the key, not only the one given: "
            object.__setattr__(self, "note", f"{note}{of_pages}.")

    @property
    def columns(self) -> dict[str, str | int | None]:
        return {
            "role": self.role,
            "per_minute": self.per_minute,
            "per_day": self.per_day,
            "origins": " ".join(self.origins) or None,
        }

    def require_within(self, quota: Quota) -> None:
        """Raise `LimitTooHigh` for limits above those of the project."""
        per_minute, per_day = self.per_minute or 0, self.per_day or 0
        if per_minute > quota.per_minute or per_day > quota.per_day:
            raise LimitTooHigh(quota.per_minute, quota.per_day)


FULL_GRANT = Grant()
