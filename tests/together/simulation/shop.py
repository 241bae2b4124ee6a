"""What the specification says of requests that come one after the other.

A step takes a state and a call with its answer, and yields the states that the call may
lead to: none if that answer is wrong there, several if it may have made one of several
rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

UNKNOWN = 0
# The status of an animal, by that of its order.
AFTER = {"completed": "sold", "cancelled": "available", "placed": "pending"}

Values = tuple[tuple[str, Any], ...]  # the members of a JSON object
# Animals, orders and stored responses; None stands for what was deleted. Of an animal
# also how often it was written, and which order was closed by which of these writes.
State = frozenset[tuple[tuple[str, Any], Any]]
Rows = dict[tuple[str, Any], Any]
Row = dict[str, Any] | None
Result = tuple[int, Row, Rows]  # the answer, and what is written


@dataclass(frozen=True)
class Call:
    """A request, and its answer as far as it is known."""

    operation: str
    ids: tuple[float, ...] = ()  # of what it names, or of what it may have made
    body: Values = ()
    place: str = ""  # the path and the Idempotency-Key
    status: int = UNKNOWN
    row: Values | None = None
    is_replay: bool = False

    def fits(
        self, status: int, row: Values | None = None, is_replay: bool = False
    ) -> bool:
        """Return whether this may have been the answer."""
        return self.status == UNKNOWN or (
            (self.status, self.is_replay) == (status, is_replay)
            and (self.row is None or row is None or self.row == row)
        )


def values_of(members: Row) -> Values | None:
    """Return what two equal JSON objects share."""
    return None if members is None else tuple(sorted(members.items()))


def step(state: State, call: Call) -> Iterator[State]:
    """Do what a call asks of an animal or its orders."""
    rows, place = dict(state), ("reply", call.place)
    if call.place and place in rows:
        body, *answer = rows[place]
        is_replay = body == call.body
        if call.fits(*(answer if is_replay else (422, None)), is_replay):
            yield state
        return
    results = CREATE.get(call.operation, _on_row)
    for status, row, written in results(rows, call):
        values = values_of(row)
        if call.fits(status, values):
            if call.place and status in STORED:
                written = written | {place: (call.body, status, values)}
            yield frozenset((rows | written).items())


def _create_pet(rows: Rows, call: Call) -> Iterator[Result]:
    for number in call.ids:
        if ("pet", number) not in rows:  # an id is never used twice
            pet = {"id": number, "status": "available", **dict(call.body)}
            yield 201, pet, {("pet", number): values_of(pet)}


def _create_order(rows: Rows, call: Call) -> Iterator[Result]:
    members = dict(call.body)
    of_pet = "pet", members["petId"]
    pet = dict(rows.get(of_pet) or ())
    if not pet:
        yield 400, None, {}
    elif pet["status"] != "available":
        yield 409, None, {}
    else:
        pending = values_of(pet | {"status": "pending"})
        for number in call.ids:
            key = "order", number
            if key not in rows:
                order = {"id": number, "status": "placed", "reference": None, **members}
                written = {key: values_of(order), of_pet: pending}
                yield 201, order, written | _writes(rows, members["petId"])


def _on_row(rows: Rows, call: Call) -> Iterator[Result]:
    """Show, change or delete a row; shown is only one that has what the body names."""
    operation, body = call.operation, dict(call.body)
    kind = "pet" if "pet" in operation.lower() else "order"
    row = dict(rows.get((kind, *call.ids)) or ())
    is_other = operation == kind and not body.items() <= row.items()
    if not row or is_other:
        yield 404, None, {}
    elif operation == kind:
        yield 200, row, {}
    elif _is_refused(rows, operation, row, body):
        yield 409, None, {}
    elif operation.startswith("delete"):
        yield 204, None, {(kind, *call.ids): None}
    else:
        if operation == "updatePet" and body.items() <= row.items():
            yield 200, row, {}  # a form that changes nothing writes nothing
        if operation == "reopenOrder":
            body = {"status": "placed"}
        row |= body
        written: Rows = {(kind, *call.ids): values_of(row)}
        if kind == "pet":
            written |= _writes(rows, row["id"])
        elif "status" in body:
            of_pet = "pet", row["petId"]
            pet = dict(rows[of_pet]) | {"status": AFTER[row["status"]]}
            closed = call.ids if row["status"] != "placed" else ()
            written |= {of_pet: values_of(pet)} | _writes(rows, *closed, row["petId"])
        yield 200, row, written


def _writes(rows: Rows, *ids: Any) -> Rows:
    """Return how often an animal is written with this, and which order closes by it."""
    *closed, pet_id = ids
    number = (rows.get(("writes", pet_id)) or 0) + 1
    last = {("closing", pet_id): (*closed, number)} if closed else {}
    return {("writes", pet_id): number} | last


def _is_refused(
    rows: Rows, operation: str, row: dict[str, Any], changes: dict[str, Any]
) -> bool:
    if operation == "deleteOrder":
        return row["status"] == "placed"
    if operation == "updateOrder":
        return "status" in changes and row["status"] != "placed"
    if operation == "reopenOrder":
        pet_id = row["petId"]
        closing = (row["id"], rows.get(("writes", pet_id)))
        is_last = rows.get(("closing", pet_id)) == closing
        return row["status"] == "placed" or not rows[("pet", pet_id)] or not is_last
    if operation == "deleteNewPet":
        return bool(rows.get(("writes", row["id"])))
    is_open = {("petId", row["id"]), ("status", "placed")}
    has_order = any(
        is_open <= {*(rows[key] or ())} for key in rows if key[0] == "order"
    )
    moves = changes.get("status", row["status"]) != row["status"]
    return has_order and (moves or operation == "deletePet")


CREATE = {"createPet": _create_pet, "createOrder": _create_order}
STORED = (200, 201, 409)
