"""Quotas and orders are exact behind PgBouncer in transaction mode."""

from collections.abc import Iterator
from itertools import cycle, islice

import psycopg
import pytest

from petstore.database import open_databases
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from tests import databases, servers
from tests.clients import ORDERS
from tests.crowds import ask_at_once
from tests.e2e.pooler import pgbouncer
from tests.races.shops import Shop, at_once

CLIENTS, TRIALS, LIMIT = 64, 5, 40


@pytest.fixture(scope="module")
def environ(postgresql_server: str) -> Iterator[dict[str, str]]:
    """Settings for a new database that is reached through PgBouncer."""
    with psycopg.connect(postgresql_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE pooled")
    with pgbouncer(postgresql_server) as url:
        environ = {
            "DATABASE_URL": url,
            "PETSTORE_PREPARED_STATEMENTS": "0",
            "WEB_CONCURRENCY": "2",
        }
        servers.flask(environ, "migrate").check_returncode()
        yield environ


@pytest.fixture(scope="module")
def instances(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[servers.Gunicorn]]:
    """Two services with two workers each."""
    logs = tmp_path_factory.mktemp("pooled")
    with (
        servers.gunicorn(logs, environ) as first,
        servers.gunicorn(logs, environ) as second,
    ):
        yield [first, second]


@pytest.fixture
def opened(environ: dict[str, str]) -> Iterator[None]:
    """Open the same database in this process."""
    open_databases(read_settings(environ))
    yield
    databases.close()


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("trial", range(TRIALS))
def test_exactly_the_limit_is_served(instances: list[servers.Gunicorn], trial: int):
    project = Project.add(f"Exact {trial}", None, Plan("enterprise", 10**6, LIMIT))
    urls = cycle(instance.url for instance in instances)
    answers = ask_at_once(islice(urls, CLIENTS), Key.issue(project))
    statuses = sorted(answer.status for answer in answers)
    assert statuses == [200] * LIMIT + [429] * (CLIENTS - LIMIT)


@pytest.mark.usefixtures("opened")
def test_only_one_of_concurrent_orders_for_an_animal_succeeds(
    instances: list[servers.Gunicorn],
):
    shop = Shop.open(instances[0])
    clients = [shop.client() for _ in range(CLIENTS // 2)]
    for pet in clients[0].add_pets(TRIALS):
        outcomes = at_once(
            clients,
            lambda _, client, pet=pet: client.ask("POST", ORDERS, {"petId": pet}),
        )
        assert outcomes == [201] + ["pet_not_available"] * (len(clients) - 1)
        assert [order["status"] for order in shop.orders_of(pet)] == ["placed"]
    shop.close()


def test_no_database_or_internal_error_was_logged(instances: list[servers.Gunicorn]):
    for instance in instances:
        assert "database_error" not in instance.log.read_text()
        assert "internal_error" not in instance.log.read_text()


def test_check_passes(environ: dict[str, str]):
    checked = servers.flask(environ, "check")
    assert (checked.returncode, checked.stderr) == (0, "")
