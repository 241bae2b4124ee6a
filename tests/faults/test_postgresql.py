"""A PostgreSQL that does not answer is given up at once, a busy one is waited for."""

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
from flask.testing import FlaskClient

from petstore.engines.postgresql import Postgresql
from petstore.engines.silence import STATEMENT_SECONDS
from tests.torture.postgres import Postgres, postgres
from tests.torture.proxies import Proxy, proxy

PETS = "/v1/pets"
PATIENCE_SECONDS = 0.3 + 0.2  # and something for a machine that is busy


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as server:
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE test_clock (now_ms bigint)")
        yield server


@pytest.fixture(scope="module")
def network(server: Postgres) -> Iterator[Proxy]:
    with proxy(server.port) as network:
        yield network


@pytest.fixture
def database_url(server: Postgres, network: Proxy) -> str:
    return server.url_at(network.port)


@pytest.fixture
def environ(database_url: str) -> dict[str, str]:
    return {"DATABASE_URL": database_url}


@pytest.fixture
def hung(server: Postgres) -> Iterator[None]:
    yield
    server.go_on()


def seconds_of(ask: object) -> float:
    started = time.monotonic()
    ask()
    return time.monotonic() - started


def open_again(client: FlaskClient) -> int:
    """The status a second later."""
    time.sleep(0.3)
    return client.get(PETS).status_code


def test_a_server_that_hangs_costs_nobody_much_time(
    client: FlaskClient, server: Postgres, hung: None
):
    assert client.get(PETS).status_code == 200
    server.hang()
    for _ in range(4):
        assert seconds_of(lambda: client.get(PETS)) < PATIENCE_SECONDS
    answer = client.get(PETS)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    server.go_on()
    assert open_again(client) == 200


def test_a_network_that_drops_everything_costs_nobody_much_time(
    client: FlaskClient, network: Proxy
):
    assert client.get(PETS).status_code == 200
    network.drop()
    try:
        for _ in range(4):
            assert seconds_of(lambda: client.get(PETS)) < PATIENCE_SECONDS
    finally:
        network.restore()
    assert open_again(client) == 200


def test_a_statement_that_waits_for_a_lock_is_waited_for(
    client: FlaskClient, server: Postgres
):
    with psycopg.connect(server.url) as other:
        other.execute("LOCK TABLE pet IN ACCESS EXCLUSIVE MODE")
        release = threading.Timer(0.8, other.rollback)
        release.start()
        answers = []
        assert seconds_of(lambda: answers.append(client.get(PETS))) > 0.5
        release.join()
    assert answers[0].status_code == 200


def test_the_slowest_statement_ends_as_503(client: FlaskClient, server: Postgres):
    with psycopg.connect(server.url) as other:
        other.execute("LOCK TABLE pet IN ACCESS EXCLUSIVE MODE")
        answers = []
        seconds = seconds_of(lambda: answers.append(client.get(PETS)))
        other.rollback()
    assert answers[0].status_code == 503
    assert STATEMENT_SECONDS < seconds < STATEMENT_SECONDS + PATIENCE_SECONDS
    assert client.get(PETS).status_code == 200


def test_the_server_ends_the_transaction_of_a_client_that_is_lost(database_url: str):
    database = Postgresql(database_url, prepares_statements=True)
    [setting] = database.execute_sql("SHOW idle_in_transaction_session_timeout")
    database.close()
    database.disconnect()
    assert setting == ("2s",)
