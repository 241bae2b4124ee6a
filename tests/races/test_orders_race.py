"""Tests that only one of many concurrent clients can order, close or create."""

from collections.abc import Iterator

import pytest

from petstore.database import open_databases
from petstore.settings import read_settings
from tests import databases, servers
from tests.clients import ORDERS
from tests.races.shops import Shop, at_once, killed_workers, renew, walk
from tests.races.stories import faults
from tests.servers import PATIENT

CLIENTS, ANIMALS = 32, 5
WALKERS, STEPS, WALKED_ANIMALS = 8, 60, 6
SEED = 20270317


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
        renew(clients)
        outcomes = at_once(
            clients,
            lambda _, client, pet=pet: client.ask("POST", ORDERS, {"petId": pet}),
        )
        assert outcomes == [201] + ["pet_not_available"] * (CLIENTS - 1)
        assert shop.status_of(pet) == "pending"
        assert [order["status"] for order in shop.orders_of(pet)] == ["placed"]


def test_only_one_of_many_concurrent_closes_succeeds(shop: Shop):
    clients = [shop.client() for _ in range(CLIENTS)]
    for pet in clients[0].add_pets(ANIMALS):
        order = clients[0].ask("POST", ORDERS, {"petId": pet}).json["id"]
        renew(clients)
        outcomes = at_once(
            clients,
            lambda number, client, order=order: client.ask(
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
        renew(clients)
        outcomes = at_once(
            clients,
            lambda number, client, category=category: client.ask(
                "PUT", f"/v1/categories/{category}", {"name": f"No. {number}"}
            ),
        )
        assert outcomes == [200] * (CLIENTS - 1) + [201]
    assert len(clients[0].ask("GET", "/v1/categories").json) == ANIMALS


def test_random_requests_keep_orders_and_animals_consistent(shop: Shop):
    seen = walk(shop, pets=WALKED_ANIMALS, walkers=WALKERS, steps=STEPS, seed=SEED)
    client = shop.client()
    assert not [deed for deed in seen.deeds if deed.answer.status is None]
    assert faults(seen, client.all_of("/v1/pets"), client.all_of(ORDERS)) == []


def test_killed_workers_keep_orders_and_animals_consistent(shop: Shop):
    with killed_workers(shop.server, SEED) as killed:
        seen = walk(shop, pets=WALKED_ANIMALS, walkers=WALKERS, steps=STEPS, seed=SEED)
    client = shop.client()
    assert killed
    assert faults(seen, client.all_of("/v1/pets"), client.all_of(ORDERS)) == []
