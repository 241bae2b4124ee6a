"""Tests for idempotency keys with concurrent requests and killed workers."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.clients import Answer
from tests.services import Service, serving

WORKERS = 4
PATIENCE = ("--config", "tests/patient.py")
COPIES = 16
ROUNDS = 6
CLIENTS = 8
KILLS = 5
GIVEN_UP_AFTER_SECONDS = 60


@pytest.fixture
def service(environ: dict[str, str], tmp_path: Path) -> Iterator[Service]:
    environ = environ | {"WEB_CONCURRENCY": str(WORKERS)}
    with serving(tmp_path, environ, *PATIENCE) as service:
        yield service


def post(service: Service, name: str) -> Answer:
    """Add an animal whose name is also its idempotency key."""
    body = {"name": name, "categoryId": 7}
    return service.ask(body=body, Idempotency_Key=name)


def post_until_answered(service: Service, name: str) -> Answer:
    """Retry after broken connections, 409 and 503, as a real client does."""
    deadline = time.monotonic() + GIVEN_UP_AFTER_SECONDS
    while time.monotonic() < deadline:
        answer = post(service, name)
        if answer.status not in (None, 409, 503):
            return answer
        time.sleep(0.05)
    raise TimeoutError(f"the key {name} stays in use")


def names_of_all(service: Service) -> Counter[str]:
    """Return the number of animals by name."""
    names, path = Counter(), "/v1/pets?limit=100"
    while path:
        answer = service.ask(path)
        names.update(pet["name"] for pet in answer.json)
        link = answer.headers["Link"]
        path = link and link[link.index("/v1") : link.index(">")]
    return names


def test_concurrent_copies_create_one_animal(service: Service):
    barrier = threading.Barrier(COPIES)

    def copy(name: str) -> Answer:
        barrier.wait()
        return post_until_answered(service, name)

    keys = [f"copy-{number}" for number in range(ROUNDS)]
    with ThreadPoolExecutor(COPIES) as pool:
        for key in keys:
            answers = list(pool.map(copy, [key] * COPIES))
            assert {answer.status for answer in answers} == {201}
            assert len({answer.content for answer in answers}) == 1
            replays = [a.headers["Idempotent-Replayed"] for a in answers]
            assert replays.count(None) == 1
    assert names_of_all(service) == dict.fromkeys(keys, 1)


def test_retries_after_killed_workers_create_one_animal(service: Service):
    answers: dict[str, Answer] = {}

    def client(number: int, round_: int) -> None:
        time.sleep(random.uniform(0, 0.02))
        key = f"kill-{round_}-{number}"
        answers[key] = post_until_answered(service, key)

    with ThreadPoolExecutor(CLIENTS) as pool:
        for round_ in range(KILLS):
            clients = [pool.submit(client, n, round_) for n in range(CLIENTS)]
            time.sleep(random.uniform(0, 0.03))
            random.choice(service.workers).kill()
            for running in clients:
                running.result()
    assert {answer.status for answer in answers.values()} == {201}
    assert names_of_all(service) == dict.fromkeys(answers, 1)
    for key, answer in answers.items():
        replay = post(service, key)
        assert replay.content == answer.content
        assert replay.headers["Idempotent-Replayed"] == "true"
