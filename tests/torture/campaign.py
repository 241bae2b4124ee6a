"""What a campaign of faults is, and what came of it."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True)
class Run:
    """How often a fault is tried, and by which dice."""

    trials: int
    dice: random.Random
    directory: Path


@dataclass
class Outcome:
    """What was seen; every fault is a sentence about what should not have been."""

    trials: int = 0
    faults: list[str] = field(default_factory=list)
    lost: int = 0
    duplicated: int = 0
    figures: dict[str, float] = field(default_factory=dict)  # worth knowing, by name

    @property
    def is_good(self) -> bool:
        """Whether every promise was kept."""
        return not (self.faults or self.lost or self.duplicated)


class Campaign(NamedTuple):
    """A fault, how often it is tried in the long run and in the short, and its play."""

    name: str
    trials: int
    trials_when_short: int
    play: Callable[[Run], Outcome]
