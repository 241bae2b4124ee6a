"""The chart of requests: a bar for each day, refused above served, on one scale."""

from dataclasses import dataclass
from typing import NamedTuple

from petstore.quotas.windows import Day

HEIGHT = 100  # in units of the picture; a bar is one unit wide
SCALE_ENDS = (10, 16, 20, 30, 40, 50, 60, 80)  # or a power of ten times one of them


class Bar(NamedTuple):
    """A day, and the heights of its two parts."""

    day: Day
    served: float
    refused: float


@dataclass(frozen=True)
class Chart:
    """The bars in order, and the number at the top of the scale."""

    bars: list[Bar]
    top: int

    @classmethod
    def of(cls, days: list[Day]) -> "Chart":
        """Return the chart of the days."""
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
    power = 1
    while SCALE_ENDS[-1] * power < highest:
        power *= 10
    return next(end * power for end in SCALE_ENDS if end * power >= highest)
