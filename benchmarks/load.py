"""Runs of wrk, their figures, and the tables that are made of them."""

import argparse
import itertools
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.requests import CASES
from benchmarks.stage import STORES, Server, Stage

SCRIPT = Path(__file__).with_name("requests.lua")
UNIT_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
ROWS = "SELECT count(*) FROM pet"

_seeds = itertools.count(1)


class Figures(NamedTuple):
    """The results of one run."""

    rate: float  # requests per second
    p50_ms: float
    p99_ms: float
    cpu_us: dict[str, float]  # per request, of the server and of its stores


def options(description: str, *, rounds: int) -> argparse.Namespace:
    """Parse the common options: the stores, the cases, the rounds and their length."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seconds", type=int, default=1, help="of each run")
    parser.add_argument("--store", choices=STORES)
    cases = list(CASES)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(cases))
    chosen = parser.parse_args()
    if unknown := set(chosen.cases) - set(cases):
        parser.error(f"no case is {unknown.pop()}; there are {', '.join(cases)}")
    chosen.cases = chosen.cases or cases
    chosen.stores = [chosen.store] if chosen.store else STORES
    return chosen


def run(
    place: Stage,
    server: Server,
    requests: Path,
    *,
    connections: int,
    seconds: int,
    rate: float | None = None,
) -> Figures:
    """Send requests at full speed or at the given rate, and check the results.

    No request may fail, and everything that was acknowledged must be in the database.
    """
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
    command += ["--timeout", "20s", "-s", str(SCRIPT), server.url]
    command += ["--", str(requests), str(next(_seeds))]
    command += [str(rate)] if rate else []
    rows, before = place.sql(ROWS)[0][0], _cpu_seconds(place, server)
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = _cpu_seconds(place, server)
    count = int(_found(r"(\d+) requests in", shown))
    assert "Non-2xx" not in shown, shown
    assert "Socket errors" not in shown, shown
    is_kept = requests.stem != "create" or place.sql(ROWS)[0][0] - rows >= count
    assert is_kept, "all are kept"
    return Figures(
        rate=float(_found(r"Requests/sec:\s+([0-9.]+)", shown)),
        p50_ms=_latency_ms("50%", shown),
        p99_ms=_latency_ms("99%", shown),
        cpu_us={
            name: 1e6 * _spent(before[name], after[name]) / count for name in after
        },
    )


def _found(pattern: str, shown: str) -> str:
    return re.search(pattern, shown)[1]


def _latency_ms(quantile: str, shown: str) -> float:
    number, unit = re.search(rf"{quantile}\s+([0-9.]+)(us|ms|s)\b", shown).groups()
    return float(number) * UNIT_MS[unit]


def _cpu_seconds(place: Stage, server: Server) -> dict[str, dict[int, float]]:
    """Return the CPU seconds of each process so far, by program and process id."""
    programs = {"server": server.process} | place.stores
    seconds: dict[str, dict[int, float]] = {name: {} for name in programs}
    for name, program in programs.items():
        for process in (program, *program.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # PostgreSQL's processes come and go
                seconds[name][process.pid] = sum(process.cpu_times()[:2])
    return seconds


def _spent(before: dict[int, float], after: dict[int, float]) -> float:
    return sum(seconds - before.get(pid, 0) for pid, seconds in after.items())


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
