"""Tests that only one of many concurrent clients can order or create."""

from collections.abc import Callable
from functools import partial

from tests.harness.clients import ORDERS, PETS, Answer, Client
from tests.harness.crowds import at_once, race
from tests.harness.waiting import wait_until
from tests.together.races.conftest import of_postgresql

CLIENTS, ANIMALS = 24, 4
COPIES, ROUNDS = 16, 4

Clients = Callable[[int], list[Client]]


def status_of(client: Client, pet: int) -> str:
    return client.get(f"{PETS}/{pet}").json["status"]


def orders_of(client: Client, pet: int) -> list[dict]:
    return [order for order in client.all_of(ORDERS) if order["petId"] == pet]


@of_postgresql
def test_only_one_of_many_concurrent_orders_succeeds(clients: Clients):
    first, *others = clients(CLIENTS)
    for pet in first.add_pets(ANIMALS):
        order = ("POST", ORDERS, {"petId": pet})
        outcomes = race([first, *others], [order] * CLIENTS)
        assert outcomes == [201] + ["pet_not_available"] * (CLIENTS - 1)
        assert status_of(first, pet) == "pending"
        assert [order["status"] for order in orders_of(first, pet)] == ["placed"]


@of_postgresql
def test_only_one_of_many_concurrent_puts_creates_a_category(clients: Clients):
    first, *others = clients(CLIENTS)
    for category in range(ANIMALS):
        path = f"/v1/categories/{category}"
        puts = [("PUT", path, {"name": f"No. {n}"}) for n in range(CLIENTS)]
        outcomes = race([first, *others], puts)
        assert outcomes == [200] * (CLIENTS - 1) + [201]
    assert len(first.get("/v1/categories").json) == ANIMALS


@of_postgresql
def test_each_animal_has_a_category_whoever_deletes_it(clients: Clients):
    first, second = clients(2)
    for category in range(100, 150):
        path = f"/v1/categories/{category}"
        first.send("PUT", path, {"name": "Dogs"})
        add = ("POST", PETS, {"name": "Rex", "categoryId": category})
        outcomes = race([first, second], [("DELETE", path, None), add])
        assert outcomes in ([201, 204], [201, "category_in_use"])
    named = {pet["categoryId"] for pet in first.all_of(PETS)}
    assert named == {each["id"] for each in first.all_of("/v1/categories")}


def insist(client: Client, name: str) -> Answer:
    """Retry while another copy is being answered, as a real client does."""
    pet, answers = {"name": name, "categoryId": 7}, []

    def is_answered() -> bool:
        answers.append(client.post(pet, Idempotency_Key=name))
        return answers[-1].outcome != "idempotency_key_in_use"

    wait_until(is_answered, "the key is in use")
    return answers[-1]


@of_postgresql
def test_concurrent_copies_create_one_animal(clients: Clients):
    copies = clients(COPIES)
    names = [f"copy-{number}" for number in range(ROUNDS)]
    for name in names:
        answers = at_once(partial(insist, name=name), copies)
        assert {answer.status for answer in answers} == {201}
        assert len({answer.content for answer in answers}) == 1
        replays = [answer.headers["Idempotent-Replayed"] for answer in answers]
        assert replays.count(None) == 1
    assert [pet["name"] for pet in copies[0].all_of(PETS)] == names
