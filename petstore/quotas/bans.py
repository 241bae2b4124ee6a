"""Temporary bans of keys that go on after their refusals (specification section 8)."""

from dataclasses import dataclass

from petstore.clock import MS_PER_SECOND
from petstore.models.keys import Key
from petstore.quotas.windows import Claim, Tally
from petstore.settings import Settings


@dataclass(frozen=True)
class BanRule:
    """How many refusals in one minute ban a key, and for how long."""

    after: int
    seconds: int

    @classmethod
    def of(cls, settings: Settings) -> "BanRule":
        """The rule that the settings make."""
        return cls(settings.ban_after, settings.ban_seconds)

    def banned_until_ms(self, claim: Claim, tally: Tally) -> int:
        """The end of the ban that holds or that this refusal brings; 0 for none."""
        if not tally.strikes or tally.strikes % self.after:
            return claim.banned_until_ms
        until_ms = tally.now_ms + self.seconds * MS_PER_SECOND
        Key.ban(claim.key_id, until_ms)
        return until_ms
