"""The types of a fault campaign, its run and its outcome."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True)
class Run:
    """The number of trials, the random generator and the directory of a run."""

    trials: int
    dice: random.Random
    directory: Path


@dataclass
class Outcome:
    """The result of a run; each fault is a text that describes a broken promise."""

    trials: int = 0
    faults: list[str] = field(default_factory=list)
    lost: int = 0
    duplicated: int = 0
    figures: dict[str, float] = field(default_factory=dict)  # by name

    @property
    def is_good(self) -> bool:
        """Whether every promise was kept."""
        return not (self.faults or self.lost or self.duplicated)


class Campaign(NamedTuple):
    """A kind of fault, the number of its trials, and the function that runs them."""

    name: str
    trials: int
    trials_when_short: int
    play: Callable[[Run], Outcome]
