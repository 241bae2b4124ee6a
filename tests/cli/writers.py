"""Clients that add animals while a database is being copied."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.clients import Client
from tests.services import Service

WRITERS = 3
FIRST = 20


@dataclass
class Writers:
    """The ids of the added animals, unordered, and the statuses of refusals."""

    added: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    has_begun: threading.Event = field(default_factory=threading.Event)
    has_ended: threading.Event = field(default_factory=threading.Event)

    def add(self, service: Service) -> None:
        """Add animals until `has_ended` is set."""
        with Client(service.url, service.key) as client:
            while not self.has_ended.is_set():
                answer = client.post({"name": "Rex", "categoryId": 7})
                if answer.status == 201:
                    self.added.append(answer.json["id"])
                else:
                    self.refused.append(answer.status)
                if len(self.added) >= FIRST:
                    self.has_begun.set()


@contextmanager
def writing(service: Service) -> Iterator[Writers]:
    """Yield writers that have added some animals, and stop them after the block."""
    writers = Writers()
    threads = [
        threading.Thread(target=writers.add, args=(service,)) for _ in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    try:
        assert writers.has_begun.wait(20)
        yield writers
    finally:
        writers.has_ended.set()
        for thread in threads:
            thread.join()


def ids_of(service: Service, key: str) -> list[int]:
    """Return the ids of all animals that the project's list shows."""
    ids: list[int] = []
    with Client(service.url, key) as client:
        while page := client.get(
            f"/v1/pets?limit=100&after={max(ids, default=0)}"
        ).json:
            ids += [pet["id"] for pet in page]
    return ids
