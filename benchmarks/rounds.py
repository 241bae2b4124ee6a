"""Runs that are compared: options, rounds in turns, and what is printed of them."""

import argparse
from collections.abc import Callable, Iterable
from statistics import median
from typing import TypeVar

from benchmarks.stage import STORES, USUAL_STORES

Run = TypeVar("Run")


def options(
    description: str, cases: Iterable[str] = (), *, rounds: int = 7, seconds: int = 1
) -> argparse.Namespace:
    """What every script takes: the stores and the cases to measure, and how long."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seconds", type=int, default=seconds, help="of each run")
    parser.add_argument("--store", choices=STORES)
    if cases:
        parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(cases))
    chosen = parser.parse_args()
    if cases and (unknown := set(chosen.cases) - set(cases)):
        parser.error(f"no case is {unknown.pop()}; there are {', '.join(cases)}")
    if cases:
        chosen.cases = chosen.cases or list(cases)
    chosen.stores = [chosen.store] if chosen.store else USUAL_STORES
    return chosen


def interleave(runs: dict[str, Callable[[], Run]], rounds: int) -> list[dict[str, Run]]:
    """Carry out each run in each round; every other round goes backwards."""
    there, back = list(runs), list(reversed(runs))
    orders = [there if number % 2 == 0 else back for number in range(rounds)]
    return [{name: runs[name]() for name in order} for order in orders]


def spread(values: Iterable[float], digits: int = 2) -> str:
    """The median, the lowest and the highest."""
    values = list(values)
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return f"{median(values):.{digits}f} ({low} to {high})"


def print_heads(*heads: str) -> None:
    """Begin a table in Markdown."""
    print()
    print_row(*heads)
    print_row(*["---"] * len(heads))


def print_row(*cells: str) -> None:
    """Add a line to the table."""
    print(f"| {' | '.join(cells)} |", flush=True)
