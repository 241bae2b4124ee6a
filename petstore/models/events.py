"""Events of rows, emitted once the change that they tell of is committed."""

from functools import partial
from typing import Any

from petstore.database import data
from petstore.events import emit


def emit_after_commit(name: str, **facts: Any) -> None:
    """Emit an event after the present transaction, or at once where there is none.

    A transaction that is rolled back emits nothing.
    """
    data.after_commit(partial(emit, name, **facts))
