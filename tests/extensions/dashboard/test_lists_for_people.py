"""Lists for people: filters, search, both directions, and totals."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product

import pytest

from petstore.extensions.dashboard import listing
from petstore.extensions.dashboard.listing import Cursor, ListPage
from petstore.extensions.dashboard.orders import list_orders
from petstore.extensions.dashboard.pets import list_animals
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.searching import searchable
from petstore.schemas.fields import INT64_MAX
from tests.harness.browser import add_pet
from tests.harness.databases import of_both_engines

pytestmark = of_both_engines
NAMES = ("Rex", "rex", "Ray", "Äffchen", "äffchen", "Rex", "100%", "Zoë", "RE", "Re_x")

ALIKE = [
    *(("O'Neil", "o’neil"), ("abc", "Ａｂｃ"), ("Łatka", "latka"), ("Đorđe", "dorde")),
    *(("Ørsted", "orsted"), ("Ærø", "aero"), ("Straße", "strasse"), ("ｶﾞ", "ガ")),
    *(("Jean‐Luc", "jean-luc"), ("Þórr", "Thorr"), ("A\u3000b", "a B")),
]


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


def walk(show: Callable[[Cursor], ListPage], limit: int) -> list[list[int]]:
    """Return the ids on every page, from the first to the last and back again."""
    page = show(Cursor(limit))
    pages = [page]
    while page.next is not None:
        page = show(Cursor(limit, after=page.next))
        pages.append(page)
    forth = [[row.id for row in page.rows] for page in pages]
    pages = [page]
    while page.previous is not None:
        page = show(Cursor(limit, before=page.previous))
        pages.append(page)
    assert [[row.id for row in page.rows] for page in pages[::-1]] == forth
    return forth


def of_api(page: ListPage) -> ListPage:
    """Return the page with the columns that animals have over the API."""
    names = [column.name for column in Pet.columns()]
    rows = [Pet.row(*(getattr(row, name) for name in names)) for row in page.rows]
    return page._replace(rows=rows)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, range(9, -1, -1)),
        ({"status": "sold"}, (9, 6, 3, 0)),
        ({"category_id": 1}, (9, 7, 5, 3, 1)),
        ({"name": "rE"}, (9, 8, 5, 1, 0)),
        ({"name": "r", "status": "available", "category_id": 1}, (5, 1)),
    ],
)
def test_animals_are_listed_newest_first_or_by_name_in_both_directions(
    project: Project, pets: list[Pet], filters: dict, found: Sequence[int]
):
    wanted = [pets[n] for n in found]
    show = partial(list_animals, project.id, **filters)
    sort = partial(show, sort="name")
    for limit in (1, 3):
        pages = walk(show, limit)
        assert list(chain(*pages)) == [pet.id for pet in wanted]
        assert all(len(page) == limit for page in pages[:-1])
        by_name = sorted((searchable(pet.name), pet.id) for pet in wanted)
        assert list(chain(*walk(sort, limit))) == [pet_id for _, pet_id in by_name]
    assert of_api(show(Cursor(10))) == ListPage(wanted, len(wanted), True, None, None)


def test_search_finds_all_its_words_whatever_their_order_case_and_accents(
    project: Project, pets: list[Pet]
):
    def found(text: str) -> list[str]:
        rows = list_animals(project.id, Cursor(10), name=text).rows
        return [pet.name for pet in rows]

    for text, names in (
        *(("äff", ["äffchen", "Äffchen"]), ("CHEN ÄFF", ["äffchen", "Äffchen"])),
        *(("  zoë  ", ["Zoë"]), ("%", ["100%"]), ("re_", ["Re_x"]), ("rex zoë", [])),
        *(("AFF", ["äffchen", "Äffchen"]), ("zoe", ["Zoë"]), ("ra\u0308y", ["Ray"])),
    ):
        assert found(text) == names
    Pet.correct(project.id, pets[0].id, name="Ömer")
    Pet.correct(project.id, pets[0].id, category_id=9)
    assert found("omer") == ["Ömer"]
    assert found("rex") == ["Rex", "rex"]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_search_finds_a_name_however_its_letters_are_written(
    project: Project, one: str, other: str
):
    for name in (one, other):
        Order.place(project.id, add_pet(project, name), name)
    for listed, typed in product((list_animals, list_orders), (one, other)):
        assert listed(project.id, Cursor(10), name=typed).total == 2


def test_names_are_sorted_where_people_look_for_them(project: Project):
    names = ("Zoë", "Łatka", "Mia", "Ørsted", "Ａｂｃ", "O’Hara")
    for name in names:
        add_pet(project, name)
    rows = list_animals(project.id, Cursor(10), sort="name").rows
    by_name = [names[4], names[1], names[2], names[5], names[3], names[0]]
    assert [row.name for row in rows] == by_name


def test_search_finds_as_many_words_as_a_name_can_have(project: Project):
    name = " ".join(map(chr, range(0x4E00, 0x4E00 + 100)))
    Pet.add(project.id, name=name, category_id=1, status="available")
    Order.place(project.id, list_animals(project.id, Cursor(1)).rows[0].id, name[::-1])
    for listed in (list_animals, list_orders):
        assert listed(project.id, Cursor(1), name=name).total == 1


def test_search_finds_an_animal_by_its_number(
    project: Project, rival: Project, pets: list[Pet]
):
    for text in (f"#{pets[3].id}", f" #0{pets[3].id} ", f"{pets[3].id}"):
        listed = of_api(list_animals(project.id, Cursor(10), name=text))
        assert listed == ListPage([pets[3]], 1, True, None, None)
    [foreign] = Pet.page(rival.id, after=0, limit=1)
    for number in (foreign.id, 0, INT64_MAX, 10**19 - 1):
        assert list_animals(project.id, Cursor(10), name=f"#{number}").total == 0


def test_search_and_total_see_the_newest_animals_and_say_so(
    project: Project, pets: list[Pet], monkeypatch: pytest.MonkeyPatch
):
    for most, total in ((11, (10, True)), (10, (10, True)), (9, (9, False))):
        monkeypatch.setattr(listing, "MAX_COUNTED", most)
        assert list_animals(project.id, Cursor(1))[1:3] == total
    listed = of_api(list_animals(project.id, Cursor(10), name="rex"))
    assert (listed.rows, listed.is_exact) == ([pets[5], pets[1]], False)
