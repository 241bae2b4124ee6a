"""Tests that changes of keys apply on every worker at once."""

import time
from collections.abc import Callable
from itertools import cycle, islice

import pytest

from petstore import clock, create_app
from petstore.models.keys import Key
from petstore.models.projects import Plan
from petstore.settings import read_settings
from tests.harness import databases
from tests.harness.clients import Answer, Client
from tests.harness.crowds import at_once
from tests.races.conftest import Service, of_postgresql_and_redis

PLENTY = Plan("enterprise", 100_000, 100_000)
REQUESTS = 40
READERS = 8
EXPIRES_AFTER_MS = 1000
REFUSED = {401, 429}  # 429 after too many invalid keys from one address

Flask = Callable[..., str]


def send(urls: list[str], key: str) -> list[Answer]:
    """Send each request over a new connection, so that any worker may answer."""
    answers = []
    for url in islice(cycle(urls), REQUESTS):
        with Client(url, key) as client:
            answers.append(client.get())
    return answers


def statuses(service: Service, key: str) -> set[int]:
    return {answer.status for answer in send(service.urls, key)}


@pytest.fixture
def key(service: Service, key_of: Callable[[Plan], str]) -> str:
    """A key that every worker knows."""
    key = key_of(PLENTY)
    assert statuses(service, key) == {200}
    return key


@pytest.fixture
def flask(service: Service) -> Flask:
    """A function that runs a CLI command outside the service; returns its output."""
    databases.close()  # of the fixtures, which the application opens again
    runner = create_app(read_settings(service.environ)).test_cli_runner()

    def flask(*arguments: str) -> str:
        ended = runner.invoke(args=arguments)
        assert ended.exit_code == 0
        return ended.stdout.strip()

    return flask


@of_postgresql_and_redis
def test_a_revoked_key_is_refused_by_every_worker(
    service: Service, key: str, flask: Flask
):
    flask("keys", "revoke", key[:16])
    assert statuses(service, key) <= REFUSED


@of_postgresql_and_redis
def test_a_key_expires_on_every_worker_at_the_same_moment(service: Service, key: str):
    expires_ms = clock.now_ms() + EXPIRES_AFTER_MS
    Key.update(expires_ms=expires_ms).where(Key.prefix == key[:16]).execute()
    expires_at = time.monotonic() + EXPIRES_AFTER_MS / clock.MS_PER_SECOND

    def read(url: str) -> list[Answer]:
        answers = []
        while not answers or answers[-1].sent_at < expires_at:
            answers += send([url], key)
        return answers

    shares = at_once(read, islice(cycle(service.urls), READERS))
    answers = [answer for share in shares for answer in share]
    late = {answer.status for answer in answers if answer.sent_at >= expires_at}
    assert late
    assert late <= REFUSED
