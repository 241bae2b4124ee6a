"""Show what each mechanism that is there for speed saves.

    python -m benchmarks.without "generated dumper"      # one row
    python -m benchmarks.without --waiting --rounds 15   # what saves waiting, in time

plain.py replaces each mechanism by the plain way. The first table shows how many
thousands of instructions more, or fewer, a request takes then (needs valgrind). The
second one (needs wrk) shows requests per second with and without the mechanism, each
the least disturbed of interleaved rounds, where there is something to wait for: an
fsync takes 5 ms, an answer of PostgreSQL or Redis 1 ms.
"""

import contextlib
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.cost import COUNTED, WARM_UP
from benchmarks.meters import METERS, SERVICE, Program
from benchmarks.plain import MECHANISMS
from benchmarks.relay import relay
from benchmarks.requests import Crowd
from benchmarks.rounds import interleave, options, print_heads, print_row, spread
from benchmarks.stage import Server, Stage, stage
from benchmarks.tenants import settle
from benchmarks.wrk import Case, run

CASES = ("list", "get", "create")
METER = "alone"
FSYNC_SECONDS, STORE_SECONDS = 0.005, 0.001
SLOW_DISK = {
    "SYNC_SECONDS": str(FSYNC_SECONDS),
    "GUNICORN_CMD_ARGS": "--worker-class tests.faults.slow_disk.SlowDiskWorker",
}


class Wait(NamedTuple):
    """A load under which a mechanism saves waiting."""

    store: str
    what: str  # is requested, see requests.lua
    workers: int = 1
    who: str = "tenants"


# "mixed" is a get, or one time in ten a create.
WAITS = {
    "group commit": [Wait("sqlite", "create"), Wait("sqlite", "mixed")],
    "commit in a thread": [Wait("sqlite", "mixed")],
    "rare checkpoints": [Wait("sqlite", "get")],
    "own pool": [Wait("postgresql", "get"), Wait("postgresql", "create")],
    "shared inserts": [Wait("postgresql", "create", who="one tenant")],
    "balancing": [Wait("postgresql", "get", workers=2)],
}
ON_POSTGRESQL = ("own pool",)


def main() -> None:
    """Print a row for each mechanism."""
    chosen = options(__doc__, MECHANISMS, rounds=15, flags=("--waiting",))
    if chosen.waiting:
        _print_waits(chosen.cases, chosen.rounds, chosen.seconds)
        return
    for store in chosen.stores:
        counted = [name for name in chosen.cases if _is_counted(name, store)]
        if counted:
            _print_counts(store, counted)


def _is_counted(name: str, store: str) -> bool:
    return ((name in ON_POSTGRESQL) == (store == "postgresql")) and (
        name not in WAITS or name in ON_POSTGRESQL
    )


def _print_counts(store: str, names: list[str]) -> None:
    print_heads(f"Without ({store})", *CASES)
    with stage(store) as place, tempfile.TemporaryDirectory() as directory:
        crowd = Crowd(place)
        program = Program(place.without_proxies(), SERVICE, Path(directory))
        whole = _count(crowd, program)
        for name in names:
            found = _count(crowd, program._replace(without=name))
            print_row(name, *map(_cell, found, whole))


def _count(crowd: Crowd, program: Program) -> list[float]:
    with METERS[METER](program) as measure:
        return [
            measure(crowd.requests(case, WARM_UP), crowd.requests(case, COUNTED))[METER]
            for case in CASES
        ]


def _cell(found: float, whole: float) -> str:
    return f"{found - whole:+,.0f} ({100 * (found / whole - 1):+.1f} %)"


def _print_waits(names: list[str], rounds: int, seconds: int) -> None:
    heads = ("Requests/s with it", "without", "p99 ms with it", "without", "Saves %")
    print_heads("Without", "Load", *heads)
    for name in names:
        for wait in WAITS.get(name, ()):
            _print_wait(name, wait, rounds, seconds)


def _print_wait(name: str, wait: Wait, rounds: int, seconds: int) -> None:
    with stage(wait.store) as place, contextlib.ExitStack() as stack:
        settle(place)
        place = _slowed(place, stack)
        servers = {each: _start(place, each, wait.workers) for each in ("", name)}
        case = Case(wait.what, wait.who)
        runs = {
            each: lambda s=server: run(s, case, seconds)
            for each, server in servers.items()
        }
        found = interleave(runs, rounds)
    rates = [max(each[which].rate for each in found) for which in servers]
    tails = [min(each[which].p99_ms for each in found) for which in servers]
    ratios = [1 - each[name].rate / each[""].rate for each in found]
    print_row(
        name,
        f"{wait.store}, {wait.what}{' in one project' * (wait.who != 'tenants')}",
        *(f"{rate:,.0f}" for rate in rates),
        *(f"{tail:.1f}" for tail in tails),
        spread(100 * (1 - rates[1] / rates[0]), (100 * each for each in ratios), 0),
    )


def _slowed(place: Stage, stack: contextlib.ExitStack) -> Stage:
    """Return the stage with stores that take their time."""
    slow = SLOW_DISK
    if place.store != "sqlite":
        slow = {
            name: stack.enter_context(relay(url, STORE_SECONDS)).url
            for name, url in place.environ.items()
            if name.endswith("_URL")
        }
    return place._replace(environ=place.environ | slow)


def _start(place: Stage, without: str, workers: int) -> Server:
    metrics = place.directory / f"metrics {without}"
    metrics.mkdir()
    return place.start(
        without,
        *("benchmarks.plain", without, "gunicorn", "wsgi:app"),
        WEB_CONCURRENCY=str(workers),
        PROMETHEUS_MULTIPROC_DIR=str(metrics),
    )


if __name__ == "__main__":
    main()
