"""Searches ignore how letters are written, also in what a release before has folded."""

import unicodedata
from collections.abc import Callable

import psycopg
import pytest

from petstore.models.orders import Order, withdraw_pet
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.searching import FOLDING, folded, is_outdated
from petstore.storage.lists import Cursor
from petstore.upkeep.foldings import fold_again
from petstore.upkeep.housekeeping import delete_outdated
from tests.harness.browser import add_pet
from tests.harness.statements import recorded

ALIKE = [
    *(("O'Neil", "o’neil"), ("abc", "Ａｂｃ"), ("Łatka", "latka"), ("Đorđe", "dorde")),
    *(("Ørsted", "orsted"), ("Ærø", "aero"), ("Straße", "strasse"), ("ｶﾞ", "ガ")),
    *(("Jean‐Luc", "jean-luc"), ("Þórr", "Thorr"), ("A\u3000b", "a B")),
]
NAMES = ("Zoë", "Łatka", "Mia", "Ørsted", "Ａｂｃ", "O’Hara")


def found(model: type, project: Project, text: str) -> list[str]:
    member = "name" if model is Pet else "reference"
    rows = model.listed(project.id, Cursor(10), name=text).rows
    return [getattr(row, member) for row in rows]


def as_before() -> None:
    """Let all texts be folded as release 1.3.0 does."""
    for pet in Pet.select():
        Pet.update(folded=pet.name.lower()).where(Pet.id == pet.id).execute()
    for order in Order.select():
        name = order.pet_name and order.pet_name.lower()
        before = {"folded": (order.reference or "").lower(), "pet_folded": name}
        Order.update(before).where(Order.id == order.id).execute()


def count_outdated() -> int:
    pets = Pet.select().where(is_outdated(Pet.folded)).count()
    return pets + Order.select().where(is_outdated(Order.folded)).count()


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_search_finds_a_name_however_its_letters_are_written(
    project: Project, one: str, other: str
):
    for name, typed in ((one, other), (other, one)):
        pet_id = add_pet(project, name)
        Order.place(project.id, pet_id, name)
        assert name in found(Pet, project, typed)
        assert name in found(Order, project, typed)


def test_names_are_sorted_where_people_look_for_them(project: Project):
    for name in NAMES:
        add_pet(project, name)
    rows = Pet.listed(project.id, Cursor(10), sort="name").rows
    by_name = [NAMES[4], NAMES[1], NAMES[2], NAMES[5], NAMES[3], NAMES[0]]
    assert [row.name for row in rows] == by_name


def test_no_name_becomes_too_long_for_an_index(project: Project):
    most = "", 0
    for letter in map(chr, [*range(0xD800), *range(0xE000, 0x110000)]):
        if (size := len(folded(letter).encode())) > most[1]:
            most = letter, size
    assert most[1] <= 6 < len(unicodedata.normalize("NFKC", "\ufdfa").encode())
    add_pet(project, most[0] * 200)


def test_what_a_release_before_has_folded_is_folded_again_in_batches(
    project: Project, set_limits: Callable
):
    set_limits(deleted_rows=2, deletion_pause_seconds=0.0)
    ids = [add_pet(project, name) for name in NAMES]
    gone = add_pet(project, "Đorđe")
    for pet_id in (gone, ids[0]):
        order = Order.place(project.id, pet_id, "Ms Łuczak")
        Order.change(project.id, order.id, status="cancelled")
    withdraw_pet(project.id, gone)
    as_before()
    writes = Pet.get_by_id(ids[0]).writes
    assert found(Pet, project, "Łatka") == ["Łatka"]  # also meanwhile
    with recorded() as statements:
        delete_outdated()
    gists = [each.gist for each in statements]
    assert (gists.count("UPDATE pet"), gists.count("UPDATE pet_order")) == (3, 1)
    assert count_outdated() == 0
    assert found(Pet, project, "latka") == ["Łatka"]
    assert len(found(Order, project, "dorde luczak")) == 1
    assert Pet.get_by_id(ids[0]).writes == writes  # so a deed can be taken back


def test_what_the_release_before_writes_beside_is_folded_again(project: Project):
    kept, corrected = add_pet(project, "Rex"), add_pet(project, "Max")
    fold_again()
    is_one = Pet.id == corrected
    Pet.update(name="Łatka", folded="łatka").where(is_one).execute()
    new = {"project": project.id, "category_id": 7, "status": "sold"}
    Pet.insert(name="Ørsted", folded="ørsted", **new).execute()
    fold_again()
    assert found(Pet, project, "latka") == ["Łatka"]
    assert found(Pet, project, "orsted") == ["Ørsted"]
    assert Pet.get_by_id(kept).folded == FOLDING + "rex"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_folding_again_waits_for_nobody(
    project: Project, postgresql: psycopg.Connection
):
    held, _ = add_pet(project, "Łatka"), add_pet(project, "Ørsted")
    as_before()
    with postgresql.transaction():
        postgresql.execute("SELECT 1 FROM pet WHERE id = %s FOR UPDATE", (held,))
        fold_again()
        assert count_outdated() == 1
    fold_again()
    assert count_outdated() == 0
