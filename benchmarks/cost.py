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
`by hand` are the same job in Flask, written by hand (yardsticks/flask_app.py): first on
the server of the service, then on gunicorn's own gevent worker, which reads
requests with the parser in Python here: valgrind does not know the instructions of the
one in C. The rows `floor` are nginx that reads the animals in Lua and does nothing else
(yardsticks/floor.conf), on SQLite alone.
"""

import argparse
import itertools
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.counting import METERS, Figures
from benchmarks.requests import CASES, DEAREST, Crowd
from benchmarks.stage import (
    BY_HAND,
    FLOOR,
    GUNICORN,
    ON_GEVENT,
    STORES,
    USUAL_STORES,
    Stage,
    stage,
)

COMMITTED = Path(__file__).with_name("cost.md")
# How many times as much as in the table each column may be.
CHECKED = {"instructions": 1.03, "calls": 1.1, "statements": 1.03, "trips": 1.03}
COLUMNS = tuple(CHECKED)
COUNTED_CASES = [*CASES, *DEAREST]
STEADY = (*GUNICORN, "--config", "benchmarks/steady.py")
COMPARED = " by hand, gevent"
# The servers, by what follows the name of a case.
SERVERS = {
    "": (*STEADY, "wsgi:app"),
    " by hand": (*STEADY, BY_HAND),
    COMPARED: (*ON_GEVENT, "python", BY_HAND),
    " floor": FLOOR,
}
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
RATIO = {("sqlite", "list"): 1.15, ("sqlite", "create"): 1.15}

WARM_UP = 100  # requests, so that each tenant asks and statements are prepared
COUNTED = 200
SHORT_COUNTED = 60

Table = dict[tuple[str, str], Figures]  # by store and row


def main() -> int:
    """Print a table for each store; return whether a request costs more than before."""
    chosen = _options()
    committed, found = read(COMMITTED), {}
    for store in chosen.stores:
        with stage(store) as place:
            found |= _count(place, chosen)
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
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", action="store_true")
    rows = _rows(COUNTED_CASES)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=" | ".join(rows))
    chosen = parser.parse_args()
    if unknown := set(chosen.cases) - set(rows):
        parser.error(f"no case is {unknown.pop()}")
    chosen.stores = [chosen.store] if chosen.store else USUAL_STORES
    chosen.meters = [chosen.meter] if chosen.meter else list(METERS)
    chosen.counted = SHORT_COUNTED if chosen.short else COUNTED
    usual = list(CASES) if chosen.short else rows
    chosen.cases = chosen.cases or usual
    return chosen


def _rows(cases: Iterable[str]) -> list[str]:
    """Return the rows of these cases, in the order of the table."""
    return [
        case + server
        for case in cases
        for server in SERVERS
        if _is_counted(case, server)
    ]


def _is_counted(case: str, server: str) -> bool:
    """Return whether a case is counted on a server; the floor writes nothing."""
    if server == " floor":
        return case in ("list", "get")
    return case in CASES or not server


def _case(row: str) -> str:
    return row.partition(" ")[0]


def _count(place: Stage, chosen: argparse.Namespace) -> Table:
    crowd = Crowd(place)
    found: Table = {(place.store, row): {} for row in chosen.cases}
    for server, meter in itertools.product(SERVERS, chosen.meters):
        rows = [row for row in chosen.cases if row == _case(row) + server]
        if not rows or (server == " floor" and place.store != "sqlite"):
            continue
        with METERS[meter](place, SERVERS[server]) as measure:
            for row in rows:
                warm_up, counted = (
                    crowd.requests(_case(row), count)
                    for count in (WARM_UP, chosen.counted)
                )
                found[place.store, row] |= measure(warm_up, counted)
    return {key: figures for key, figures in found.items() if figures}


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
