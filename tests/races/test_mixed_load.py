"""Tests that concurrent reads and writes neither fail nor miss rows."""

import threading
from collections.abc import Callable
from functools import partial

from tests.harness.clients import PETS, Answer, Client
from tests.harness.crowds import going_on
from tests.harness.waiting import wait_until
from tests.races.conftest import Service
from tests.races.followers import follow

CLIENTS = 16
ANSWERS = 600


def use(
    client: Client, number: int, answers: list[Answer], has_ended: threading.Event
) -> None:
    """Repeatedly add an animal, get it and list a page; record the answers."""
    turn = 0
    while not has_ended.is_set():
        turn += 1
        written = client.post({"name": f"{number}/{turn}", "categoryId": number % 3})
        assert written.status == 201, written.content
        found = client.get(f"{PETS}/{written.json['id']}")
        assert found.json == written.json
        answers += [written, found, client.get(f"{PETS}?status=available&limit=5")]


def test_mixed_load_loses_no_row_and_logs_no_error(
    service: Service, clients: Callable[[int], list[Client]]
):
    answers: list[Answer] = []
    seen: list[list[int]] = [[] for _ in service.urls]
    readers = map(partial, [follow] * len(seen), clients(len(seen)), seen)
    writers = [partial(use, own, n, answers) for n, own in enumerate(clients(CLIENTS))]
    with going_on(*readers), going_on(*writers):
        wait_until(lambda: len(answers) >= ANSWERS, "few answers")
    assert {answer.status for answer in answers} == {200, 201}
    written = sorted(a.json["id"] for a in answers if a.status == 201)
    assert len(written) == len(answers) / 3
    for ids in seen:
        assert ids == written
    for trouble in ("locked", "counters_lost", "database_error"):
        assert trouble not in service.log
