"""Clients that go on adding animals while something is copied."""

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
    """What was acknowledged, in no order, and what was not."""

    added: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    has_begun: threading.Event = field(default_factory=threading.Event)
    has_ended: threading.Event = field(default_factory=threading.Event)

    def add(self, service: Service) -> None:
        """Add animals until told to stop."""
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
    """Writers that have added some animals, for as long as the block runs."""
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
    """Every animal of a project, as its list shows them."""
    ids: list[int] = []
    with Client(service.url, key) as client:
        while page := client.get(
            f"/v1/pets?limit=100&after={max(ids, default=0)}"
        ).json:
            ids += [pet["id"] for pet in page]
    return ids
