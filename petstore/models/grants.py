"""What a key is issued with: its role, limits of its own, and origins."""

from dataclasses import dataclass

from petstore.models import RuleError
from petstore.models.origins import normal_origin
from petstore.models.plans import Quota
from petstore.models.roles import FULL, is_for_web_page

MAX_ORIGINS = 10
MAX_EXPIRY_DAYS = 36_500
# For how long a rotated key goes on.
MAX_GRACE_SECONDS = 31_536_000
DEFAULT_GRACE_SECONDS = 86_400


class LimitMissing(RuleError):
    """A key has one limit without the other."""

    text = "A key has a limit per minute and a limit per day of its own, or neither."


class LimitsTooHigh(RuleError):
    """A key would have more than its project."""

    text = (
        "A key may have at most the limits of its project, which are {:,} requests a "
        "minute and {:,} a day."
    )


class LimitsNeeded(RuleError):
    """A key for a web page would have no limits of its own."""

    text = "A key for a web page needs limits of its own, since everybody can take it."


class NoKeyForPages(RuleError):
    """Origins are for keys for web pages alone."""

    text = (
        "Only a key for a web page takes origins: one that may only read, and that has "
        "limits of its own."
    )


class TooManyOrigins(RuleError):
    """A key has more origins than it may have."""

    text = "A key takes at most {} origins."


@dataclass(frozen=True)
class Grant:
    """The role of a key, its limits if it has any, and the origins of its pages.

    Raises `LimitMissing`, `NoKeyForPages`, `TooManyOrigins` and `InvalidOrigin`.
    """

    role: str = FULL
    per_minute: int | None = None
    per_day: int | None = None
    origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.per_minute is None) != (self.per_day is None):
            raise LimitMissing
        if self.origins and not is_for_web_page(self.role, self.per_minute):
            raise NoKeyForPages
        if len(self.origins) > MAX_ORIGINS:
            raise TooManyOrigins(MAX_ORIGINS)
        # Each once, as browsers write it.
        origins = tuple(dict.fromkeys(map(normal_origin, self.origins)))
        object.__setattr__(self, "origins", origins)

    @property
    def columns(self) -> dict[str, str | int | None]:
        """The columns of a key that has this."""
        return {
            "role": self.role,
            "per_minute": self.per_minute,
            "per_day": self.per_day,
            "origins": " ".join(self.origins) or None,
        }

    def require_within(self, quota: Quota) -> None:
        """Raise `LimitsTooHigh` for limits above those of the project."""
        per_minute, per_day = self.per_minute or 0, self.per_day or 0
        if per_minute > quota.per_minute or per_day > quota.per_day:
            raise LimitsTooHigh(quota.per_minute, quota.per_day)


FULL_GRANT = Grant()
