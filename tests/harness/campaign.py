"""A fault campaign, and a run of it that collects the broken promises."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from petstore import timeouts
from petstore.timeouts import Limits
from tests.harness.patience import PATIENT

# What limits of time are multiplied by, and what a p99 may grow by, in the short form:
# it runs on machines that are busy or slow, and is too short for a precise p99.
SHORT_TIMES = 4
SHORT_NOISE_MS = 250.0


@dataclass
class Run:
    """The conditions and the results of a run.

    A fault is a text that describes a broken promise.
    """

    trials: int
    dice: random.Random = field(repr=False)
    directory: Path = field(repr=False)
    is_short: bool = False
    done: int = 0  # trials
    faults: list[str] = field(default_factory=list)
    lost: int = 0
    duplicated: int = 0
    figures: dict[str, float] = field(default_factory=dict)  # by name

    @property
    def is_good(self) -> bool:
        """Whether every promise was kept."""
        return not (self.faults or self.lost or self.duplicated)

    def each_trial(self) -> Iterator[int]:
        """Yield the number of each trial, and count those that were done."""
        for number in range(self.trials):
            yield number
            self.done += 1

    def limit(self, seconds: float) -> float:
        """Return a limit of time, which is longer in the short form."""
        return seconds * SHORT_TIMES if self.is_short else seconds

    @property
    def limits(self) -> Limits:
        """The limits of a service whose requests must all be served."""
        return PATIENT if self.is_short else timeouts.LIMITS

    def require(self, is_kept: object, fault: str) -> None:
        """Add the fault unless the promise was kept."""
        if not is_kept:
            self.faults.append(fault)

    def compare(
        self, rounds: int, play: Callable[[bool], list[float]], bound: "Bound"
    ) -> None:
        """Compare the median p99 of rounds without and with a disturbance, in turn.

        `play` runs a round, disturbed or not, and returns its response times.
        """
        p99s: dict[bool, list[float]] = {False: [], True: []}
        for is_disturbed in (False, True) * rounds:
            p99s[is_disturbed].append(p99(play(is_disturbed)) * 1000)
        without, disturbed = median(p99s[False]), median(p99s[True])
        noise_ms = max(bound.noise_ms, SHORT_NOISE_MS * self.is_short)
        self.require(
            disturbed <= bound.times * without + noise_ms,
            f"p99 was {without:.1f} ms, and then {disturbed:.1f} ms",
        )
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
    play: Callable[[Run], None]
