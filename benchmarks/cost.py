"""Count what a request costs: instructions, system calls, statements, round trips.

    python -m benchmarks.cost                                        # all (`make cost`)
    python -m benchmarks.cost --store sqlite --meter instructions get        # one cell
    python -m benchmarks.cost --short                            # as in CI, two minutes
    python -m benchmarks.cost --write                                  # renew the table

Any of these can renew its part of the table with `--write`.

Needs valgrind and strace. With one connection, the counts are the same to one in a
hundred on any day. Each is printed with its difference to the table in
benchmarks/cost.md. The command fails if a request to the service takes 3 % more than
there, or 10 % more system calls: on SQLite a thread commits, and how often it has to be
woken depends on the machine. It also fails if a request takes more instructions than
its row says under `at most`: that is what was agreed on, and no more than the same job
by hand. The columns:

- instructions: thousands of instructions of a worker with one connection
- calls: its system calls
- statements: of SQL and Redis
- trips: round trips to the stores

What a worker does from time to time is left out: the notes of requests are written in
the background.

The rows `hundred`, `page` and `once` are the dearest of what a plan allows. The rows
`by hand` are the same job in Flask, written by hand (yardsticks/baseline.py): on
gunicorn's own gevent worker, which is what the service is compared to, on gunicorn's
threads, and on the worker of the service. Gunicorn's workers read requests with the
parser in Python: valgrind does not know the instructions of the one in C. `--keep
DIRECTORY` keeps the profiles of single functions, for `callgrind_annotate`.
"""

import argparse
import contextlib
import itertools
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.meters import BY_GUNICORN, METERS, SERVICE, Figures, Program
from benchmarks.requests import CASES, DEAREST, Crowd
from benchmarks.stage import GEVENT, GTHREAD, STORES, USUAL_STORES, Stage, stage

COMMITTED = Path(__file__).with_name("cost.md")
# How many times as much as in the table each column may be.
CHECKED = {"instructions": 1.03, "calls": 1.1, "statements": 1.03, "trips": 1.03}
COLUMNS = tuple(CHECKED)
COUNTED_CASES = [*CASES, *DEAREST]
COMPARED_CASES = ("list", "get", "create")  # with the baseline
# The servers of the baseline, by what follows the name of a case.
BY_HAND = {
    " by hand, gevent": (*BY_GUNICORN, *GEVENT),
    " by hand, gthread": (*BY_GUNICORN, *GTHREAD),
    " by hand, our worker": SERVICE,
}
COMPARED, *_ = BY_HAND
# Thousands of instructions that were agreed on.
AGREED = {
    ("sqlite", "list"): 1520,
    ("sqlite", "get"): 1010,
    ("sqlite", "create"): 1430,
    ("postgresql", "list"): 1650,
    ("postgresql", "get"): 1320,
    ("postgresql", "create"): 1800,
}
# How many times as much as the job by hand, if not once.
RATIO = {("sqlite", "list"): 1.05}

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
    print(*above(found, committed), sep="\n")
    dearer = [] if chosen.write else list(_dearer(found, committed))
    print(*dearer, sep="\n")
    return bool(dearer)


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
    cases = ", ".join([*COUNTED_CASES, *_rows(COMPARED_CASES[:1])[1:]])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{cases}, ...")
    chosen = parser.parse_args()
    if unknown := set(chosen.cases) - set(_rows(COUNTED_CASES)):
        parser.error(f"no case is {unknown.pop()}")
    chosen.stores = [chosen.store] if chosen.store else USUAL_STORES
    chosen.meters = [chosen.meter] if chosen.meter else list(METERS)
    chosen.counted = SHORT_COUNTED if chosen.short else COUNTED
    if chosen.short:
        chosen.meters = ["instructions", "calls"]
    usual = COMPARED_CASES if chosen.short else _rows(COUNTED_CASES)
    chosen.cases = chosen.cases or list(usual)
    return chosen


def _rows(cases: Iterator[str]) -> list[str]:
    """Return the rows of these cases, in the order of the table."""
    return [
        case + server
        for case in cases
        for server in ("", *BY_HAND)
        if not server or case in COMPARED_CASES
    ]


def _case(row: str) -> str:
    return row.partition(" ")[0]


def _count(place: Stage, chosen: argparse.Namespace, keep: Path) -> Table:
    crowd = Crowd(place)
    place = place.without_proxies()
    found: Table = {(place.store, row): {} for row in chosen.cases}
    for server, meter in itertools.product(("", *BY_HAND), chosen.meters):
        rows = [row for row in chosen.cases if row == _case(row) + server]
        if not rows:
            continue
        directory = keep / "-".join([place.store, meter, *server.split()])
        directory.mkdir(parents=True, exist_ok=True)
        program = Program(place, directory)
        if server:
            program = Program.by_hand(place, directory, *BY_HAND[server])
        with METERS[meter](program) as measure:
            for row in rows:
                warm_up, counted = (
                    crowd.requests(_case(row), count)
                    for count in (WARM_UP, chosen.counted)
                )
                found[place.store, row] |= measure(warm_up, counted)
    return found


# The table


def _lines(store: str, found: Table, committed: Table | None = None) -> Iterator[str]:
    """Yield a table in Markdown, with the differences to the committed one if given."""
    committed = committed or {}
    yield ""
    yield f"| {' | '.join([store, *COLUMNS, 'at most'])} |"
    yield f"| {' | '.join(['---'] * (len(COLUMNS) + 2))} |"
    for (of, row), figures in found.items():
        if of != store:
            continue
        before = committed.get((store, row), {})
        cells = [_cell(figures, before, column) for column in COLUMNS]
        bound = _bound(store, row, committed | found)
        cells.append(f"{bound:,.0f}" if bound < math.inf else "")
        yield f"| {row} | {' | '.join(cells)} |"


def _cell(figures: Figures, before: Figures, column: str) -> str:
    if column not in figures:
        return ""
    digits = 0 if column == "instructions" else 1
    cell = f"{figures[column]:,.{digits}f}"
    if before.get(column):
        percent = 100 * (figures[column] / before[column] - 1)
        cell += f" ({percent:+.1f} %)" if abs(percent) >= 0.5 else ""
    return cell


def _bound(store: str, row: str, table: Table) -> float:
    """Return the thousands of instructions that a row may have."""
    by_hand = table.get((store, row + COMPARED), {}).get("instructions", math.inf)
    ratio = RATIO.get((store, row), 1)
    return min(AGREED.get((store, row), math.inf), ratio * by_hand)


def read(file: Path) -> Table:
    table: Table = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[: len(COLUMNS)] == list(COLUMNS):
            store = first
        elif first in _rows(COUNTED_CASES):
            table[store, first] = {
                column: float(cell.replace(",", ""))
                for column, cell in zip(COLUMNS, cells, strict=False)
                if cell
            }
    return table


def write(found: Table) -> None:
    """Replace what was counted, and keep the rest."""
    table = read(COMMITTED)  # again: another process may have written
    merged = {
        key: figures
        for key in itertools.product(STORES, _rows(COUNTED_CASES))
        if (figures := table.get(key, {}) | found.get(key, {}))
    }
    stores = [store for store in STORES if any(of == store for of, _ in merged)]
    tables = (line for store in stores for line in _lines(store, merged))
    COMMITTED.write_text("\n".join([HEAD, *tables, ""]))


def above(found: Table, committed: Table) -> Iterator[str]:
    """Yield the rows that have more instructions than they may."""
    for (store, row), figures in found.items():
        counted = figures.get("instructions", 0)
        bound = _bound(store, row, committed | found)
        if counted > bound:
            yield f"{store}, {row}: {counted:,.0f} instructions, at most {bound:,.0f}"


def _dearer(found: Table, committed: Table) -> Iterator[str]:
    for (store, row), figures in found.items():
        if row not in COUNTED_CASES or (store, row) not in committed:
            continue
        before = committed[store, row]
        for column in COLUMNS:
            most = CHECKED[column] * before.get(column, math.inf) + 0.05
            if figures.get(column, 0) > most:
                yield (
                    f"{store}, {row}, {column}: {figures[column]:,.1f}"
                    f" instead of {before[column]:,.1f}"
                )


if __name__ == "__main__":
    sys.exit(main())
