"""Tests that concurrent reads and writes neither fail nor miss rows."""

import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice

import pytest

from petstore.models.projects import Plan
from tests.harness.clients import PETS, Answer, Client
from tests.harness.crowds import at_once
from tests.races.conftest import Service

SECONDS = 2
CLIENTS = 16
PAGE = 100
PLENTY = Plan("enterprise", 10**6, 10**6)


def use(url: str, key: str, number: int, ends_at: float) -> list[Answer]:
    """Repeatedly add an animal, get it and list a page; return the answers."""
    answers = []
    with Client(url, key) as client:
        while time.monotonic() < ends_at:
            pet = {"name": f"{number}/{len(answers)}", "categoryId": number % 3}
            written = client.post(pet)
            found = client.get(f"{PETS}/{written.json['id']}")
            assert found.json == written.json
            page = client.get(f"{PETS}?status=available&limit=5")
            answers += [written, found, page]
    return answers


def follow(url: str, key: str, has_ended: threading.Event) -> list[int]:
    """Poll for animals after the last one until writing has ended; return their ids."""
    seen = [0]
    with Client(url, key) as client:
        while True:
            is_last = has_ended.is_set()
            page = client.get(f"{PETS}?after={seen[-1]}&limit={PAGE}").json
            seen += [pet["id"] for pet in page]
            if is_last and not page:
                return seen[1:]


@pytest.fixture
def load(
    service: Service, key_of: Callable[[Plan], str]
) -> tuple[list[Answer], list[list[int]]]:
    """The answers to many clients, and the ids that a reader of each server saw."""
    key = key_of(PLENTY)
    has_ended = threading.Event()
    ends_at = time.monotonic() + SECONDS

    def write() -> list[Answer]:
        urls = enumerate(islice(cycle(service.urls), CLIENTS))
        try:
            shares = at_once(lambda one: use(one[1], key, one[0], ends_at), urls)
        finally:
            has_ended.set()
        return [answer for share in shares for answer in share]

    readers = [partial(follow, url, key, has_ended) for url in service.urls]
    answers, *seen = at_once(lambda client: client(), [write, *readers])
    return answers, seen


def test_mixed_load_loses_no_row_and_logs_no_error(
    service: Service, load: tuple[list[Answer], list[list[int]]]
):
    answers, seen = load
    assert {answer.status for answer in answers} == {200, 201}
    written = sorted(a.json["id"] for a in answers if a.status == 201)
    assert len(written) == len(answers) / 3
    for ids in seen:
        assert ids == written
    for trouble in ("locked", "counters_lost", "database_error"):
        assert trouble not in service.log
