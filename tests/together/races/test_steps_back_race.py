"""A step back and a colleague's work at once: one of them is refused."""

from collections.abc import Callable, Iterator

import pytest

from tests.harness.clients import ORDERS, PETS, Client
from tests.harness.crowds import at_once
from tests.harness.services import AMPLE
from tests.harness.visitors import Visitor
from tests.together.races.conftest import Service, of_both_engines

TIMES = 12
SOLD = {"status": "sold"}


@pytest.fixture
def colleagues(service: Service, key_of: Callable) -> Iterator[tuple[Visitor, Client]]:
    """Somebody with a browser, and a program, on two servers where there are two."""
    key = key_of(AMPLE)
    with Client(service.urls[-1], key) as client:
        yield Visitor(service.urls[0], key), client


@of_both_engines
def test_a_corrected_animal_is_not_removed(colleagues: tuple[Visitor, Client]):
    person, client = colleagues
    for _ in range(TIMES):
        [pet] = client.add_pets(1)
        said, answer = at_once(
            lambda deed: deed(),
            (
                lambda at=pet: person.submit(f"/animals/{at}/withdraw?added=1").text,
                lambda at=pet: client.send("PATCH", f"{PETS}/{at}", {"name": "Max"}),
            ),
        )
        is_removed = f"Removed Rex (no. {pet})." in said
        assert is_removed or "Max stays: since then" in said
        assert answer.status == (404 if is_removed else 200)


@of_both_engines
def test_an_order_of_an_animal_that_was_sold_stays_closed(
    colleagues: tuple[Visitor, Client],
):
    person, client = colleagues
    for _ in range(TIMES):
        [pet] = client.add_pets(1)
        order = client.post({"petId": pet}, ORDERS).json["id"]
        client.send("PATCH", f"{ORDERS}/{order}", {"status": "cancelled"})
        said, answer = at_once(
            lambda deed: deed(),
            (
                lambda at=order: person.submit(f"/orders/{at}/reopen").text,
                lambda at=pet: client.send("PATCH", f"{PETS}/{at}", SOLD),
            ),
        )
        is_open = f"Reservation {order} is open again" in said
        assert is_open or f"The reservation {order} stays closed: since then" in said
        assert answer.outcome == ("pet_not_available" if is_open else 200)


@of_both_engines
def test_animals_that_change_together_are_reserved_before_or_refuse(
    colleagues: tuple[Visitor, Client],
):
    person, client = colleagues
    for _ in range(TIMES):
        pets = client.add_pets(3)
        ticked = {"tick.what": "status.sold", "tick.all": " ".join(map(str, pets))}
        said, answer = at_once(
            lambda deed: deed(),
            (
                lambda ticked=ticked: person.submit("/animals/many/change", **ticked),
                lambda at=pets[1]: client.send("POST", ORDERS, {"petId": at}),
            ),
        )
        is_reserved = "Changed 2 animals to Adopted." in said.text
        assert is_reserved or "Changed 3 animals to Adopted." in said.text
        assert answer.status == (201 if is_reserved else 409)
        found = client.get(f"{PETS}/{pets[1]}").json["status"]
        assert found == ("pending" if is_reserved else "sold")
