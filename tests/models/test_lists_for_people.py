"""Lists for people: filters, search, both directions, and totals."""

from collections.abc import Callable
from itertools import chain

import pytest

from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import NoSuchPet, Pet
from petstore.models.projects import Project
from petstore.storage import lists
from petstore.storage.lists import MAX_ID, Listed, Part

NAMES = ("Rex", "rex", "Ray", "Äffchen", "äffchen", "Rex", "100%", "Zoë", "RE", "Re_x")


@pytest.fixture
def pets(project: Project, rival: Project) -> list[Pet]:
    """Ten animals in two categories, every third one sold; the rival has as many."""
    for owner in (rival, project):
        pets = [
            Pet.add(
                owner.id,
                name=name,
                category_id=n % 2,
                status="available" if n % 3 else "sold",
            )
            for n, name in enumerate(NAMES)
        ]
    return pets


def names(listed: Listed) -> list[str]:
    return [pet.name for pet in listed.rows]


def walk(show: Callable[[Part], Listed], limit: int) -> list[list[int]]:
    """Return the ids on every page, from the first to the last and back again."""
    page = show(Part(limit))
    pages = [page]
    while page.next is not None:
        page = show(Part(limit, after=page.next))
        pages.append(page)
    forth = [[row.id for row in page.rows] for page in pages]
    pages = [page]
    while page.previous is not None:
        page = show(Part(limit, before=page.previous))
        pages.append(page)
    assert [[row.id for row in page.rows] for page in pages[::-1]] == forth
    return forth


@pytest.mark.parametrize("filters", [{}, {"status": "sold"}, {"category_id": 1}])
@pytest.mark.parametrize("limit", [1, 3])
def test_animals_are_listed_newest_first_in_both_directions(
    project: Project, pets: list[Pet], filters: dict, limit: int
):
    pages = walk(lambda part: Pet.listed(project.id, part, **filters), limit)
    wanted = [
        pet.id
        for pet in reversed(pets)
        if all(getattr(pet, name) == value for name, value in filters.items())
    ]
    assert list(chain(*pages)) == wanted
    assert all(len(page) == limit for page in pages[:-1])


@pytest.mark.parametrize("limit", [1, 2])
def test_search_finds_beginnings_of_names_in_either_case(
    project: Project, pets: list[Pet], limit: int
):
    pages = walk(lambda part: Pet.listed(project.id, part, name="rE"), limit)
    found = [pets[0], pets[1], pets[5], pets[8], pets[9]]
    wanted = sorted(found, key=lambda pet: (pet.name.lower(), pet.id))
    assert list(chain(*pages)) == [pet.id for pet in wanted]


def test_search_takes_every_character_for_itself(project: Project, pets: list[Pet]):
    expected = {"Ä": ["Äffchen"], "%": [], "100%": ["100%"], "re_": ["Re_x"], "x": []}
    found = {
        text: names(Pet.listed(project.id, Part(10), name=text)) for text in expected
    }
    assert found == expected


def test_all_filters_hold_at_once(project: Project, pets: list[Pet]):
    listed = Pet.listed(
        project.id, Part(10), name="r", status="available", category_id=1
    )
    assert listed == Listed([pets[5], pets[1]][::-1], 2, True, None, None)


def test_a_further_filter_reads_a_bounded_number_of_rows(
    project: Project, pets: list[Pet], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lists, "MAX_EXAMINED", 3)
    rare = {"category_id": 1, "status": "sold"}
    listed = Pet.listed(project.id, Part(10), **rare)
    assert (listed.total, listed.is_exact) == (1, False)
    rest = Pet.listed(project.id, Part(10, after=listed.next), **rare)
    assert [listed.rows, rest.rows] == [[pets[9]], [pets[3]]]


def test_total_is_counted_up_to_a_bound(
    project: Project, pets: list[Pet], monkeypatch: pytest.MonkeyPatch
):
    for most, total in ((11, (10, True)), (10, (10, True)), (9, (9, False))):
        monkeypatch.setattr(lists, "MAX_COUNTED", most)
        assert Pet.listed(project.id, Part(1))[1:3] == total


def test_the_last_part_has_none_behind_it(project: Project, pets: list[Pet]):
    listed = Pet.listed(project.id, Part(3, is_last=True))
    assert listed.rows == pets[2::-1]
    assert (listed.previous, listed.next) == (pets[2].id, None)


def test_search_does_not_go_on_at_an_animal_of_a_rival(
    project: Project, rival: Project, pets: list[Pet]
):
    foreign = Pet.page(rival.id, after=0, limit=1, status=None)[0]
    with pytest.raises(NoSuchPet):
        Pet.listed(project.id, Part(3, after=foreign.id), name="r")


def test_categories_are_listed_by_id(project: Project, pets: list[Pet]):
    Category.rename(project.id, MAX_ID, "Last")
    pages = walk(lambda part: Category.listed(project.id, part), 1)
    assert pages == [[0], [1], [MAX_ID]]
    assert Category.listed(project.id, Part(2, after=MAX_ID)).next is None


def test_orders_are_listed_newest_first(project: Project, pets: list[Pet]):
    orders = [Order.place(project.id, pets[n].id) for n in (1, 2, 4)]
    Order.cancel(project.id, orders[1].id)
    pages = walk(lambda part: Order.listed(project.id, part, status="placed"), 1)
    assert pages == [[orders[2].id], [orders[0].id]]
    assert Order.listed(project.id, Part(9)).total == 3
