"""Count what a request costs: instructions, system calls, statements and bytes.

    python -m benchmarks.cost                                  # all (`make cost`)
    python -m benchmarks.cost --store sqlite --meter worker get      # one cell
    python -m benchmarks.cost --short                          # as in CI, two minutes
    python -m benchmarks.cost --write                          # renew the table

Any of these can renew its part of the table with `--write`.

Needs valgrind and strace. With one connection, the counts are the same to one in a
hundred on any day. Each is printed with its difference to the table in
benchmarks/cost.md. The command fails if a request to the service takes 3 % more than
there, in the columns `worker`, `alone`, `statements` or `trips`, or 10 % more system
calls: on SQLite a thread commits, and how often it has to be woken depends on the
machine. The meters and their columns:

- worker: thousands of instructions of a worker with one connection
- calls: its system calls
- crowded: thousands of instructions of a worker with eight connections
- alone: thousands of instructions of the application without a server
- pieces: statements (of SQL and Redis), round trips to the stores, and the most memory
  that Python allocates at a time

What a worker does from time to time is left out: the notes of requests are written in
the background.

The rows `hundred`, `page` and `once` are the dearest of what a plan allows. The rows
`by hand` are the same job in Flask, written by hand (yardsticks/baseline.py). Its
worker is gunicorn's, with threads, which take more or fewer system calls to wait for
each other, and the HTTP parser in Python: valgrind does not know the instructions of
the one in C. `--keep DIRECTORY` keeps the profiles of single functions, for
`callgrind_annotate`.
"""

import argparse
import contextlib
import itertools
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import meters
from benchmarks.meters import METERS, Figures, Program
from benchmarks.requests import CASES, DEAREST, Crowd
from benchmarks.stage import STORES, USUAL_STORES, Stage, stage

COMMITTED = Path(__file__).with_name("cost.md")
# How many times as much as in the table each column may be.
CHECKED = {
    "worker": 1.03,
    "calls": 1.1,
    "alone": 1.03,
    "statements": 1.03,
    "trips": 1.03,
}
COLUMNS = ("worker", "calls", "crowded", "alone", "statements", "trips", "KiB")
COUNTED_CASES = [*CASES, *DEAREST]  # the latter of the service alone
SHORT_CASES = ("list", "get", "create")
SERVICE, BY_HAND = "", " by hand"  # what follows the name of a case
APPS = {SERVICE: meters.SERVICE, BY_HAND: meters.BY_HAND}

WARM_UP = 100  # requests, so that each tenant asks and statements are prepared
COUNTED = 200
SHORT_COUNTED = 60

Table = dict[tuple[str, str], Figures]  # by store and row


def main() -> int:
    """Print a table for each store; return whether a request costs more than before."""
    chosen = _options()
    committed, found = read(COMMITTED), {}
    with contextlib.ExitStack() as stack:
        keep = chosen.keep or stack.enter_context(tempfile.TemporaryDirectory())
        for store in chosen.stores:
            with stage(store) as place:
                found |= _count(place, chosen, Path(keep))
            print(*_lines(store, found, committed), sep="\n", flush=True)
    if chosen.write:
        write(found)
    dearer = list(_dearer(found, committed))
    print(*dearer, sep="\n")
    return bool(dearer) and not chosen.write


HEAD = """\
# What a request costs

`make cost` counts this and compares it; `python -m benchmarks.cost --write` writes it.
[`cost.py`](cost.py) explains the columns."""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", choices=STORES)
    parser.add_argument("--meter", choices=METERS)
    parser.add_argument("--keep", metavar="DIRECTORY")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", action="store_true")
    cases = ", ".join(COUNTED_CASES)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=cases)
    chosen = parser.parse_args()
    if unknown := set(chosen.cases) - set(COUNTED_CASES):
        parser.error(f"no case is {unknown.pop()}")
    stores = USUAL_STORES if chosen.short else STORES
    chosen.stores = [chosen.store] if chosen.store else stores
    chosen.meters = [chosen.meter] if chosen.meter else list(METERS)
    chosen.programs = (SERVICE,) if chosen.meter or chosen.short else (SERVICE, BY_HAND)
    chosen.counted = SHORT_COUNTED if chosen.short else COUNTED
    if chosen.short:
        chosen.meters = ["worker", "calls"]
    chosen.cases = chosen.cases or (SHORT_CASES if chosen.short else COUNTED_CASES)
    return chosen


def _count(place: Stage, chosen: argparse.Namespace, keep: Path) -> Table:
    crowd = Crowd(place)
    place = place.without_proxies()
    found: Table = {
        (place.store, case + program): {}
        for case in chosen.cases
        for program in chosen.programs
        if not (program and case in DEAREST)
    }
    for program, meter in itertools.product(chosen.programs, chosen.meters):
        directory = keep / f"{place.store}-{meter}{program.replace(' ', '-')}"
        directory.mkdir(parents=True, exist_ok=True)
        with METERS[meter](Program(place, APPS[program], directory)) as measure:
            for case in chosen.cases:
                if program and case in DEAREST:
                    continue
                warm_up, counted = (
                    crowd.requests(case, count) for count in (WARM_UP, chosen.counted)
                )
                found[place.store, case + program] |= measure(warm_up, counted)
    return found


# The table


def _lines(store: str, found: Table, committed: Table | None = None) -> Iterator[str]:
    """Yield a table in Markdown, with the differences to the committed one if given."""
    heads = [*COLUMNS, "alone to by hand"]
    yield ""
    yield f"| {store} | {' | '.join(heads)} |"
    yield f"| {' | '.join(['---'] * (len(heads) + 1))} |"
    for (of, row), figures in found.items():
        if of != store:
            continue
        before = (committed or {}).get((store, row), {})
        cells = [_cell(figures, before, column) for column in COLUMNS]
        alone = figures.get("alone")
        by_hand = found.get((store, row + BY_HAND), {}).get("alone")
        cells.append(f"{alone / by_hand:.2f}" if alone and by_hand else "")
        yield f"| {row} | {' | '.join(cells)} |"


def _cell(figures: Figures, before: Figures, column: str) -> str:
    if column not in figures:
        return ""
    digits = 1 if column in ("calls", "statements", "trips") else 0
    cell = f"{figures[column]:,.{digits}f}"
    if before.get(column):
        percent = 100 * (figures[column] / before[column] - 1)
        cell += f" ({percent:+.1f} %)" if abs(percent) >= 0.5 else ""
    return cell


def read(file: Path) -> Table:
    table: Table = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[: len(COLUMNS)] == list(COLUMNS):
            store = first
        elif first.removesuffix(BY_HAND) in COUNTED_CASES:
            table[store, first] = {
                column: float(cell.replace(",", ""))
                for column, cell in zip(COLUMNS, cells, strict=False)
                if cell
            }
    return table


def write(found: Table) -> None:
    """Replace what was counted, and keep the rest."""
    table = read(COMMITTED)  # again: another process may have written
    rows = [case + program for case in CASES for program in (SERVICE, BY_HAND)]
    rows += DEAREST
    merged = {
        key: figures
        for key in itertools.product(STORES, rows)
        if (figures := table.get(key, {}) | found.get(key, {}))
    }
    stores = [store for store in STORES if any(of == store for of, _ in merged)]
    tables = (line for store in stores for line in _lines(store, merged))
    COMMITTED.write_text("\n".join([HEAD, *tables, ""]))


def _dearer(found: Table, committed: Table) -> Iterator[str]:
    for (store, row), figures in found.items():
        if row not in COUNTED_CASES or (store, row) not in committed:
            continue
        before = committed[store, row]
        for column in CHECKED.keys() & figures.keys():
            if figures[column] > CHECKED[column] * before.get(column, math.inf) + 0.05:
                yield (
                    f"{store}, {row}, {column}: {figures[column]:,.1f}"
                    f" instead of {before[column]:,.1f}"
                )


if __name__ == "__main__":
    sys.exit(main())
