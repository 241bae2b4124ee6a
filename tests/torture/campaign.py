"""The types of a fault campaign, its run and its outcome."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

# What limits of time are multiplied by, and what a p99 may grow by, in the short form:
# it runs on machines that are busy or slow, and is too short for a precise p99.
SHORT_TIMES = 4
SHORT_NOISE_MS = 250.0


@dataclass(frozen=True)
class Run:
    """The number of trials, the random generator and the directory of a run."""

    trials: int
    dice: random.Random
    directory: Path
    is_short: bool = False

    def limit(self, seconds: float) -> float:
        """Return a limit of time, which is longer in the short form."""
        return seconds * SHORT_TIMES if self.is_short else seconds


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

    def compare(
        self, run: Run, before: list[float], during: list[float], bound: "Bound"
    ) -> None:
        """Compare the median p99s, in ms, of rounds without and with a disturbance."""
        without, disturbed = median(before), median(during)
        noise_ms = max(bound.noise_ms, SHORT_NOISE_MS * run.is_short)
        if disturbed > bound.times * without + noise_ms:
            self.faults.append(f"p99 was {without:.1f} ms, and then {disturbed:.1f} ms")
        self.figures["p99_ms"] = round(without, 1)
        self.figures["p99_with_them_ms"] = round(disturbed, 1)


def p99(values: list[float]) -> float:
    """Return the 99th percentile."""
    return quantiles(values, n=100)[98]


class Bound(NamedTuple):
    """How much a p99 may grow; differences below `noise_ms` are the machine's."""

    times: float
    noise_ms: float


class Campaign(NamedTuple):
    """A kind of fault, the number of its trials, and the function that runs them."""

    name: str
    trials: int
    trials_when_short: int
    play: Callable[[Run], Outcome]
