"""Clients that add animals while a database is being copied."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.load import Load, load
from tests.harness.services import Service

FIRST = 20


@contextmanager
def adding(service: Service) -> Iterator[Load]:
    """Yield a load that has added some animals, and stop it after the block."""
    with load(service.url, [service.key] * 3, adds=True, pause_seconds=0) as clients:
        while len(clients.added) < FIRST:
            clients.run(0.01)
        yield clients


def ids_of_added(clients: Load) -> set[int]:
    """Return the ids of the animals whose creation was answered so far."""
    return {answer.json["id"] for answer in clients.answers if answer.status == 201}
