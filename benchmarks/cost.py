"""Count what a request costs: instructions, system calls, statements, round trips.

    python -m benchmarks.cost                                        # all (`make cost`)
    python -m benchmarks.cost --store sqlite --meter instructions get        # one cell
    python -m benchmarks.cost --short                            # as in CI, two minutes
    python -m benchmarks.cost --write                                  # renew the table
    python -m benchmarks.cost --steps                    # each step of a list and a get

Any of these can renew its part of the table with `--write`.

Needs valgrind and strace. With one connection, the counts are the same to one in a
hundred on any day. Each is printed with its difference to the table in
benchmarks/cost.md. The command fails if a request to the service takes 3 % more than
there, or 30 % more system calls: on SQLite a thread commits, and how often it has to be
woken depends on the machine. It also fails if a request takes more instructions than
its row says under `at most`. The columns:

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
from collections.abc import Iterator
from pathlib import Path

from benchmarks.counting import METERS, Figures, steps
from benchmarks.requests import CASES, DEAREST, Crowd
from benchmarks.stage import (
    BIND,
    BY_HAND,
    FLOOR,
    GEVENT,
    PYTHON,
    STORES,
    Stage,
    stage,
)
from benchmarks.steps import BETWEEN, STEPS

COMMITTED = Path(__file__).with_name("cost.md")
# How many times as much as in the table each column may be.
CHECKED = {"instructions": 1.03, "calls": 1.3, "statements": 1.03, "trips": 1.03}
COLUMNS = tuple(CHECKED)
COUNTED = (*PYTHON, "benchmarks.counted", *BIND, "--timeout", "0")
# The servers, by what follows the name of a case.
SERVERS = {
    "": (*COUNTED, "wsgi:app"),
    " by hand": (*COUNTED, BY_HAND),
    " by hand, gevent": (*COUNTED, *GEVENT, "--http-parser", "python", BY_HAND),
    " floor": FLOOR,
}
ROWS = [
    case + server
    for case in (*CASES, *DEAREST)
    for server in SERVERS
    if not server or (case in CASES and case + server != "create floor")
]
# The most thousands of instructions.
AT_MOST = {
    ("sqlite", "list"): 1470,
    ("sqlite", "get"): 1000,
    ("sqlite", "create"): 1660,
    ("postgresql", "list"): 1700,
    ("postgresql", "get"): 1330,
    ("postgresql", "create"): 1500,
}
WARM_UP = 100  # requests, so that each tenant asks
REQUESTS, FEW_REQUESTS, FEWEST_REQUESTS = 200, 60, 20

Table = dict[tuple[str, str], Figures]  # by store and row


def main() -> int:
    """Print a table for each store; return whether a request costs more than before."""
    chosen = _options()
    if chosen.steps:
        print(*_steps(), sep="\n")
        return 0
    committed, found = read(COMMITTED), {}
    for store in chosen.stores:
        with stage(store) as place:
            found |= _count(place, chosen)
        print(*_lines(store, found, committed), sep="\n", flush=True)
    if chosen.write:
        write(found)
    dearer = [*_above(found), *_dearer(found, {} if chosen.write else committed)]
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
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=" | ".join(ROWS))
    chosen = parser.parse_args()
    if unknown := set(chosen.rows) - set(ROWS):
        parser.error(f"no row is {unknown.pop()}")
    chosen.stores = [chosen.store] if chosen.store else STORES
    chosen.meters = [chosen.meter] if chosen.meter else list(METERS)
    chosen.counted = FEW_REQUESTS if chosen.short else REQUESTS
    chosen.rows = chosen.rows or (list(CASES) if chosen.short else ROWS)
    return chosen


def _count(place: Stage, chosen: argparse.Namespace) -> Table:
    crowd = Crowd(place)
    found: Table = {(place.store, row): {} for row in chosen.rows}
    for server, meter in itertools.product(SERVERS, chosen.meters):
        cases = [case for case in CASES | DEAREST if case + server in chosen.rows]
        if not cases or (server == " floor" and place.store != "sqlite"):
            continue
        with METERS[meter](place, SERVERS[server]) as measure:
            for case in cases:
                warm_up = crowd.requests(case, WARM_UP)
                counted = crowd.requests(case, chosen.counted)
                found[place.store, case + server] |= measure(warm_up, counted)
    return {key: figures for key, figures in found.items() if figures}


def _steps() -> Iterator[str]:
    """Yield a table with the thousands of instructions of each step on SQLite."""
    yield "| step | list | get |"
    yield "| --- | --- | --- |"
    with stage("sqlite") as place:
        crowd = Crowd(place)
        cases = {
            case: (crowd.requests(case, WARM_UP), crowd.requests(case, FEWEST_REQUESTS))
            for case in ("list", "get")
        }
        costs = steps(place, SERVERS[""], cases)
    for step in (BETWEEN, *STEPS):
        shares = [costs[case][step] / FEWEST_REQUESTS / 1000 for case in cases]
        yield f"| {step} | {shares[0]:.0f} | {shares[1]:.0f} |"


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
        bound = AT_MOST.get((store, row))
        cells.append(f"{bound:,}" if bound else "")
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


def read(file: Path) -> Table:
    table: Table = {}
    for line in file.read_text().splitlines():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[: len(COLUMNS)] == list(COLUMNS):
            store = first
        elif first in ROWS:
            table[store, first] = {
                column: float(cell.replace(",", ""))
                for column, cell in zip(COLUMNS, cells, strict=False)
                if cell
            }
    return table


def write(found: Table) -> None:
    """Replace what was counted, and keep the rest."""
    table = read(COMMITTED)  # again: another process may have written
    _, mark, below = COMMITTED.read_text().partition("\n## ")
    merged = {
        key: figures
        for key in itertools.product(STORES, ROWS)
        if (figures := table.get(key, {}) | found.get(key, {}))
    }
    stores = [store for store in STORES if any(of == store for of, _ in merged)]
    tables = (line for store in stores for line in _lines(store, merged))
    COMMITTED.write_text("\n".join([HEAD, *tables, ""]) + mark + below)


def _above(found: Table) -> Iterator[str]:
    for (store, row), figures in found.items():
        counted = figures.get("instructions", 0)
        bound = AT_MOST.get((store, row), math.inf)
        if counted > bound:
            yield f"{store}, {row}: {counted:,.0f} instructions, at most {bound:,}"


def _dearer(found: Table, committed: Table) -> Iterator[str]:
    for (store, row), figures in found.items():
        before = committed.get((store, row), {}) if row in CASES | DEAREST else {}
        for column in COLUMNS:
            most = CHECKED[column] * before.get(column, math.inf) + 0.05
            if figures.get(column, 0) > most:
                yield (
                    f"{store}, {row}, {column}: {figures[column]:,.1f}"
                    f" instead of {before[column]:,.1f}"
                )


if __name__ == "__main__":
    sys.exit(main())
