"""Makes histories of operations from what clients were told and the database holds.

The animals that were added by one name have a history, with their orders; so have the
rows of a project, and each window of a quota.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from petstore.web.turns import REFUSED
from tests.together.simulation.counts import FULL, count_requests, count_rows
from tests.together.simulation.history import Entry, Tenant
from tests.together.simulation.linear import Operation, Step
from tests.together.simulation.plan import PAGE_LIMITS
from tests.together.simulation.shop import UNKNOWN, Call, Values, step, values_of

if TYPE_CHECKING:
    from tests.together.simulation.stage import Stage

OF_COUNTERS = ".counters"  # what the name of the file with the counters ends with
REFUSALS = (400, 401, 403, 413, 415, 429)
MEMBERS = {
    "pet": ("id", "name", "categoryId", "status"),
    "order": ("id", "petId", "status", "reference"),
}
LISTS = {"listPets": "pet", "listOrders": "order"}
READS = {"getPet": "pet", "getOrder": "order"}
WRITES = {"createPet": "pet", "updatePet": "pet", "deletePet": "pet"}
WRITES |= {"createOrder": "order", "updateOrder": "order", "deleteOrder": "order"}
WRITES |= {"deleteNewPet": "pet", "reopenOrder": "order"}  # steps back
COUNTED = WRITES.keys() - {
    "updateOrder",
    "reopenOrder",
}  # that may add rows, or delete them
COUNTERS = ("redis", "disk")  # whose outages these are
STRANGERS = {"minute": 60, "day": 1000}  # requests of an address without a key


class History(NamedTuple):
    """Operations, and the step that has to explain them in some order."""

    operations: list[Operation]
    initial: Any
    step: Step


def rows(stage: "Stage", sql: str, *values: Any, file: str = "") -> list[tuple]:
    """Return rows of the database, or of the file beside it whose name ends so."""
    with closing(sqlite3.connect(f"{stage.disk.file}{file}")) as connection:
        return connection.execute(sql, values).fetchall()


def windows(stage: "Stage", *kinds: str, after: float) -> list[tuple[float, float]]:
    """Return when faults of these kinds disturbed requests, and some time after."""
    return [
        (1000 + each.start, 1000 + each.start + each.seconds + after)
        for each in stage.plan.faults
        if each.what.startswith(kinds)
    ]


def overlaps(entry: Entry, windows: list[tuple[float, float]]) -> bool:
    """Return whether a request was under way in one of the windows."""
    ended_at = entry.ended_at or inf
    return any(start <= ended_at and entry.sent_at <= end for start, end in windows)


def of_project(stage: "Stage", tenant: Tenant) -> list[Entry]:
    """Return the requests of a project."""
    return [each for each in stage.history.entries if each.tenant == tenant.name]


def of_animals(stage: "Stage", tenant: Tenant) -> Iterator[History]:
    """Yield what was done to animals and their orders."""
    entries, there = of_project(stage, tenant), list(_rows_of(stage, tenant))
    known, found = _Known(entries, there), defaultdict(list)
    for entry in entries:
        for name, call in _calls(entry, known, _status(stage, entry)):
            found[name].append(_operation(entry, call))
    shown = {(kind, row["id"]): row for kind, row in there}
    end = stage.world.now
    for kind, number in known.ids():
        row = shown.get((kind, number))
        call = Call(kind, (number,), status=200 if row else 404, row=values_of(row))
        last = Operation(end, end, call, is_read=True, source=f"at last: {row}")
        found[known.name_of(kind, number)].append(last)
    for operations in found.values():
        yield History(operations, frozenset(), step)


def _rows_of(stage: "Stage", tenant: Tenant) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind, table, columns in (
        ("pet", "pet", "id, name, category_id, status"),
        ("order", "pet_order", "id, pet_id, status, reference"),
    ):
        sql = f"SELECT {columns} FROM {table} WHERE project_id = ?"
        for row in rows(stage, sql, tenant.id):
            yield kind, dict(zip(MEMBERS[kind], row, strict=True))


class _Known:
    """The ids that anybody knows, and which history they belong to."""

    def __init__(self, entries: list[Entry], there: list[tuple[str, Any]]) -> None:
        self._names: dict[int, str] = {}  # by which animals were added
        self._pets: dict[int, int] = {}  # of orders
        # An animal has another name once it is corrected.
        for entry in sorted(entries, key=lambda each: each.operation != "createPet"):
            for row in entry.json if isinstance(entry.json, list) else [entry.json]:
                self._learn(row if isinstance(row, dict) else {})
        for _, row in there:
            self._learn(row)

    def _learn(self, row: dict[str, Any]) -> None:
        if "petId" in row:
            self._pets.setdefault(row["id"], row["petId"])
        elif "categoryId" in row:
            self._names.setdefault(row["id"], row["name"])

    def ids(self) -> list[tuple[str, int]]:
        """Return the ids of all animals and orders."""
        pets = [("pet", number) for number in self._names]
        return pets + [("order", number) for number in self._pets]

    def named(self, name: str) -> tuple[int, ...]:
        """Return the animals that were added by a name."""
        return tuple(each for each, other in self._names.items() if other == name)

    def orders_of(self, pet_id: int) -> tuple[int, ...]:
        """Return the orders of an animal."""
        return tuple(each for each, other in self._pets.items() if other == pet_id)

    def name_of(self, kind: str, number: int) -> str:
        """Return the name of an animal, or of that of an order."""
        if kind == "pet":
            return self._names.get(number, f"animal {number}")
        pet_id = self._pets.get(number)
        return f"order {number}" if pet_id is None else self.name_of("pet", pet_id)


def _status(stage: "Stage", entry: Entry) -> int | None:
    """Return the status if it is known, and None if the request did nothing."""
    if entry.operation == "createOrder" and entry.status == 400:
        return 400  # there is no such animal
    if entry.status in REFUSALS or entry.code == "project_full":
        return None
    if entry.status == 503:
        # What SQLite could not sync is in its log all the same: it is found there when
        # the process dies before the next COMMIT.
        is_unsynced = overlaps(entry, windows(stage, "disk sync", after=0))
        return UNKNOWN if is_unsynced or not entry.idempotency_key else None
    return entry.status


def _operation(entry: Entry, call: Call) -> Operation:
    is_refused = call.status >= 400 and not (call.place and call.status == 409)
    is_read = call.operation in MEMBERS or is_refused or call.is_replay
    returned_at = inf if call.status == UNKNOWN else entry.ended_at
    return Operation(entry.sent_at, returned_at, call, is_read, entry)


def _calls(
    entry: Entry, known: _Known, status: int | None
) -> Iterator[tuple[str, Call]]:
    """Yield the calls that a request stands for, each with the name of an animal."""
    operation = entry.operation
    if operation in LISTS and status == 200:
        yield from _calls_of_list(entry, known)
    elif operation in READS and status in (200, 404):
        kind = READS[operation]
        call = Call(kind, (entry.row_id,), status=status, row=_row(entry, kind))
        yield known.name_of(kind, entry.row_id), call
    elif operation in WRITES and status is not None:
        kind, body = WRITES[operation], entry.body or {}
        if operation == "createPet":
            name, ids = body["name"], known.named(body["name"])
        elif operation == "createOrder":
            pet_id = body["petId"]
            name, ids = known.name_of("pet", pet_id), known.orders_of(pet_id)
        else:
            name, ids = known.name_of(kind, entry.row_id), (entry.row_id,)
        key, row = entry.idempotency_key, _row(entry, kind)
        place, values = f"{entry.path} {key}" if key else "", values_of(body)
        call = Call(operation, ids, values, place, status, row, entry.is_replay)
        yield name, call


def _calls_of_list(entry: Entry, known: _Known) -> Iterator[tuple[str, Call]]:
    """Yield a call for each row that a list shows, or might have shown."""
    kind, shown = LISTS[entry.operation], {row["id"]: row for row in entry.json}
    filters, after, last = entry.page
    for each, number in known.ids():
        if each == kind and after < number <= last:
            row, values = shown.pop(number, None), values_of(filters)
            if row:
                row = values_of({name: row[name] for name in MEMBERS[kind]})
            call = Call(kind, (number,), values, status=200 if row else 404, row=row)
            yield known.name_of(kind, number), call
    for number in shown:  # beyond its parameters
        yield f"{kind} {number}", Call(kind, (), status=200)


def _row(entry: Entry, kind: str) -> Values | None:
    if not (entry.is_acknowledged and isinstance(entry.json, dict)):
        return None
    return values_of({name: entry.json.get(name) for name in MEMBERS[kind]})


def of_rows(stage: "Stage", tenant: Tenant) -> History:
    """Return what has changed the rows of a project and the names of its categories."""
    operations = []
    for entry in of_project(stage, tenant):
        status = _status(stage, entry)
        if entry.code == "project_full":
            status = FULL
        if status is not None and not entry.is_replay:
            for call in _calls_of_rows(entry, status):
                operations.append(_operation(entry, call))
    held = "SELECT rows_held FROM project WHERE id = ?"
    tables = ("pet", "pet_order", "category")
    counts = (f"(SELECT COUNT(*) FROM {each} WHERE project_id = ?)" for each in tables)
    counted = f"SELECT {' + '.join(counts)}"
    for sql, values in ((held, [tenant.id]), (counted, [tenant.id] * 3)):
        [[count]] = rows(stage, sql, *values)
        end, call = stage.world.now, Call("count", body=(("rows", count),), status=200)
        operations.append(Operation(end, end, call, is_read=True, source=sql))
    initial = (0, frozenset[tuple[int, str | None]]())
    return History(operations, initial, partial(count_rows, tenant.rows))


def _calls_of_rows(entry: Entry, status: int) -> Iterator[Call]:
    operation, body = entry.operation, entry.body or {}
    if operation == "listCategories" and status == 200:
        _, *part = entry.page
        row = values_of({each["id"]: each["name"] for each in entry.json})
        yield Call(operation, tuple(part), status=status, row=row)
    elif operation in ("putCategory", "deleteCategory"):
        members = {"categoryId": entry.row_id, "name": body.get("name")}
        yield Call(operation, body=values_of(members), status=status)
    elif operation in COUNTED and (status < 400 or entry.code == "project_full"):
        members = {k: body[k] for k in body if k == "categoryId"}
        yield Call(operation, body=values_of(members), status=status)


def of_windows(stage: "Stage") -> Iterator[History]:
    """Yield what was counted in each window of each quota."""
    away = windows(stage, *COUNTERS, after=4.0)
    stepped = windows(stage, "clock", after=60.0)
    told: dict[tuple[str, str, int, str], list[Operation]] = defaultdict(list)
    untold: dict[tuple[str, str], list[Operation]] = defaultdict(list)
    for entry in stage.history.entries:
        for subject, window, limit in _windows_of(stage, entry):
            figures = entry.figures.get(window)
            # Once the clock was set back, the file may count a key in an earlier minute
            # than its project, whose end is told.
            is_early = window.startswith("key") and overlaps(entry, stepped)
            if is_early or overlaps(entry, away) or _is_untold(entry, window):
                hit = Operation(entry.sent_at, inf, (1, None), source=entry)
                untold[subject, window].append(hit)
            elif figures and (
                figures[0] == limit or figures[0] != STRANGERS.get(window)
            ):
                reset = "" if window.endswith("day") else entry.reset_of(window)
                more, used = int(entry.status != 429), limit - figures[1]
                hit = Operation(
                    entry.sent_at, entry.ended_at, (more, used), not more, entry
                )
                if reset is not None:
                    told[subject, window, limit, reset].append(hit)
    for (subject, window, limit, _), hits in told.items():
        hits += untold[subject, window]
        yield History(hits, 0, partial(count_requests, limit))


def _windows_of(stage: "Stage", entry: Entry) -> Iterator[tuple[str, str, int]]:
    """Yield the windows that a request may be counted in, and their limits."""
    is_page = entry.operation == "page" and entry.method == "GET"
    if is_page or entry.operation == "options" or REFUSED in f"{entry.json}":
        return
    tenant = stage.history.tenants[entry.tenant]
    if entry.operation != "stranger":
        yield tenant.name, "minute", tenant.per_minute
        yield tenant.name, "day", tenant.per_day
    if entry.is_for_page:
        yield f"page of {tenant.name}", "key-minute", PAGE_LIMITS[0]
        yield f"page of {tenant.name}", "key-day", PAGE_LIMITS[1]
    if entry.status in (0, 401):
        for window, limit in STRANGERS.items():
            yield entry.network, window, limit


def _is_untold(entry: Entry, window: str) -> bool:
    """Return whether it may have been counted in a window without saying so."""
    is_hidden = entry.is_for_page and not window.startswith("key")
    # With a 503, it is told what was last known.
    if entry.status in (0, 503) or entry.is_form or entry.operation == "page":
        return True
    return is_hidden and entry.status != 401
