"""Tests that only one of many concurrent clients can order, close or create."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases, servers
from tests.harness.clients import ORDERS
from tests.harness.servers import PATIENT
from tests.harness.waiting import wait_until
from tests.races.shops import Shop, race
from tests.torture import kills
from tests.torture.campaign import Outcome, Run
from tests.torture.writers import writing

CLIENTS, ANIMALS = 32, 5
WRITES = 400
KILLS = 4


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def environ(
    request: pytest.FixtureRequest, race_stores: dict[str, str]
) -> dict[str, str]:
    """The settings of four workers, on each database in turn."""
    return {
        "DATABASE_URL": race_stores[request.param],
        "WEB_CONCURRENCY": "4",
    } | PATIENT


@pytest.fixture(scope="module")
def server(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[servers.Gunicorn]:
    """The service as it runs in production."""
    with servers.gunicorn(tmp_path_factory.mktemp("gunicorn"), environ) as server:
        yield server


@pytest.fixture
def shop(server: servers.Gunicorn, environ: dict[str, str]) -> Iterator[Shop]:
    """A new project for each test."""
    open_databases(read_settings(environ))
    shop = Shop.open(server)
    yield shop
    shop.close()
    databases.close()


def test_only_one_of_many_concurrent_orders_succeeds(shop: Shop):
    clients = [shop.client() for _ in range(CLIENTS)]
    for pet in clients[0].add_pets(ANIMALS):
        outcomes = race(
            clients,
            lambda _, client, pet=pet: client.send("POST", ORDERS, {"petId": pet}),
        )
        assert outcomes == [201] + ["pet_not_available"] * (CLIENTS - 1)
        assert shop.status_of(pet) == "pending"
        assert [order["status"] for order in shop.orders_of(pet)] == ["placed"]


def test_only_one_of_many_concurrent_closes_succeeds(shop: Shop):
    clients = [shop.client() for _ in range(CLIENTS)]
    for pet in clients[0].add_pets(ANIMALS):
        order = clients[0].send("POST", ORDERS, {"petId": pet}).json["id"]
        outcomes = race(
            clients,
            lambda number, client, order=order: client.send(
                "PATCH",
                f"{ORDERS}/{order}",
                {"status": ("completed", "cancelled")[number % 2]},
            ),
        )
        assert outcomes == [200] + ["order_closed"] * (CLIENTS - 1)
        [closed] = shop.orders_of(pet)
        assert (closed["status"], shop.status_of(pet)) in [
            ("completed", "sold"),
            ("cancelled", "available"),
        ]


def test_only_one_of_many_concurrent_puts_creates_a_category(shop: Shop):
    clients = [shop.client() for _ in range(CLIENTS)]
    for category in range(ANIMALS):
        outcomes = race(
            clients,
            lambda number, client, category=category: client.send(
                "PUT", f"/v1/categories/{category}", {"name": f"No. {number}"}
            ),
        )
        assert outcomes == [200] * (CLIENTS - 1) + [201]
    assert len(clients[0].send("GET", "/v1/categories").json) == ANIMALS


def test_random_writes_keep_orders_and_animals_consistent(shop: Shop):
    outcome = Outcome()
    with writing(shop.client, "rex") as ledger:
        wait_until(lambda: ledger.answered >= WRITES, "few writes were answered")
    ledger.judge(shop.client(), outcome)
    assert outcome.is_good, outcome
    assert None not in ledger.statuses


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_killed_processes_lose_and_repeat_no_write(engine: str, tmp_path: Path):
    outcome = kills.play(engine, Run(KILLS, random.Random(engine), tmp_path))
    assert outcome.is_good, outcome
