"""The HTTP server: a gunicorn worker with an event loop, and waiting in it.

The rest of the service uses only what is named here.
"""

from petstore.server import timeouts
from petstore.server.concurrency import (
    Abandoned,
    await_result,
    can_await,
    start_in_background,
    wait_in_queue,
)

__all__ = [
    "Abandoned",
    "await_result",
    "can_await",
    "start_in_background",
    "timeouts",
    "wait_in_queue",
]
