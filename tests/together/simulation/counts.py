"""What the specification says of counters: the rows of a project, and its quota.

As in `shop`, a step takes a state and a call with its answer.
"""

from collections.abc import Iterator
from typing import Any

from tests.together.simulation.shop import Call, values_of

DELTAS = {"createPet": 1, "createOrder": 1, "deletePet": -1, "deleteOrder": -1}
DELTAS |= {"deleteNewPet": -1}
STATUSES = {"createPet": 201, "createOrder": 201, "updatePet": 200}
FULL = 409

Names = dict[int, str | None]  # of categories
Held = tuple[int, frozenset[tuple[int, str | None]]]


def count_rows(limit: float, state: Held, call: Call) -> Iterator[Held]:
    """Count the rows that a call adds or deletes, as far as there is room."""
    rows, names = state[0], dict(state[1])
    for status, more, named in _outcomes(rows, names, call):
        if more > 0 and rows + more > limit:
            if call.fits(FULL):
                yield state
        elif call.fits(status):
            yield rows + more, frozenset(named.items())


def _outcomes(rows: int, names: Names, call: Call) -> Iterator[tuple[int, int, Names]]:
    """Yield what may be answered, how many rows that adds, and what has which name."""
    members: dict[str, Any] = dict(call.body)
    category = members.get("categoryId")
    is_new = category not in names and category is not None
    match call.operation:
        case "count":
            if rows == members["rows"]:
                yield 200, 0, names
        case "listCategories":
            after, last = call.ids
            shown = {id: name for id, name in names.items() if after < id <= last}
            if values_of(shown) == call.row:
                yield 200, 0, names
        case "deleteCategory" if is_new:
            yield 404, 0, names
        case "deleteCategory":
            yield 409, 0, names  # animals have it
            yield 204, -1, {id: names[id] for id in names if id != category}
        case "putCategory":
            named = names | {category: members["name"]}
            yield 201 if is_new else 200, int(is_new), named
        case operation:
            named = names | {category: None} if is_new else names
            more = DELTAS.get(operation, 0) + is_new
            yield STATUSES.get(operation, 204), more, named


def count_requests(
    limit: int, used: int, call: tuple[int, int | None]
) -> Iterator[int]:
    """Count a request in a window, if its client was told the right number."""
    more, told = call
    if used + more <= limit and told in (None, used + more):
        yield used + more
