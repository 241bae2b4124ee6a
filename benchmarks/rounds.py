"""Options, interleaved rounds and output of the benchmarks."""

import argparse
from collections.abc import Callable, Iterable
from typing import TypeVar

from benchmarks.stage import STORES, USUAL_STORES

Run = TypeVar("Run")


def options(
    description: str,
    cases: Iterable[str] = (),
    *,
    rounds: int = 15,
    seconds: int = 1,
) -> argparse.Namespace:
    """Parse the common options: the stores, the cases, the rounds and their length."""
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
    """Execute all runs in each round, in reverse order in every other round."""
    there, back = list(runs), list(reversed(runs))
    orders = [there if number % 2 == 0 else back for number in range(rounds)]
    return [{name: runs[name]() for name in order} for order in orders]


def spread(least_disturbed: float, values: Iterable[float], digits: int = 2) -> str:
    """Format the least disturbed value, and the lowest and the highest of all."""
    values = list(values)
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return f"{least_disturbed:.{digits}f} ({low} to {high})"


def print_heads(*heads: str) -> None:
    """Print the head of a Markdown table."""
    print()
    print_row(*heads)
    print_row(*["---"] * len(heads))


def print_row(*cells: str) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(cells)} |", flush=True)
