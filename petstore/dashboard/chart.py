"""A bar for each day, served below and refused above, on a scale that fits."""

from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from petstore.quotas.windows import Day

HEIGHT = 100  # of the picture; a bar is one wide
ENDS = (10, 15, 20, 30, 40, 50, 60, 80)  # times a power of ten: ends of a scale


class Bar(NamedTuple):
    """The heights of a day's two parts."""

    day: Day
    served: float
    refused: float


@dataclass(frozen=True)
class Chart:
    """The days in order, and the number at which the scale ends."""

    bars: list[Bar]
    top: int

    @classmethod
    def of(cls, days: list[Day]) -> "Chart":
        """Draw the days."""
        top = _scale_end(max(day.served + day.refused for day in days))
        return cls([_bar(day, top) for day in days], top)

    @property
    def served(self) -> int:
        """Requests served on all days together."""
        return sum(bar.day.served for bar in self.bars)

    @property
    def refused(self) -> int:
        """Requests refused on all days together."""
        return sum(bar.day.refused for bar in self.bars)


def _bar(day: Day, top: int) -> Bar:
    return Bar(day, _height(day.served, top), _height(day.refused, top))


def _height(requests: int, top: int) -> float:
    return round(requests / top * HEIGHT, 2)


def _scale_end(highest: int) -> int:
    powers = (10**zeros for zeros in count())
    return next(
        end * power for power in powers for end in ENDS if end * power >= highest
    )
