"""Turns for what takes long: a project does one of these at a time in a worker."""

from collections.abc import Iterator
from contextlib import contextmanager

from petstore import clock, timeouts
from petstore.web.turns import Turns, own_turns


def acquire_exclusively(project_id: int) -> None:
    """Wait for the one turn that a project has for long work; raises a 503.

    The request keeps it until the application has made the response.
    """
    own_turns().acquire(("project", project_id))


@contextmanager
def exclusively(turns: Turns, project_id: int) -> Iterator[None]:
    """Run the block while no other long work of the project runs.

    It is for parts of a response that has begun, which cannot be refused any more:
    after a long wait, the block runs all the same.
    """
    name = ("project", project_id)
    has_turn = turns.acquire(name, clock.monotonic() + timeouts.LIMITS.send_seconds)
    try:
        yield
    finally:
        if has_turn:
            turns.release(name)
