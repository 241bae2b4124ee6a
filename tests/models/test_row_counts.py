"""How many animals, orders and categories a project may hold together."""

import pytest

from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet, PetNotAvailable, PetTable
from petstore.models.projects import Plan, Project, ProjectFull
from petstore.upkeep import housekeeping

REX = {"name": "Rex", "category_id": 7, "status": "available"}
LIMIT = 5


@pytest.fixture
def project(app: object) -> Project:
    """A project that may hold five rows."""
    return Project.add("Shelter", None, Plan("enterprise", 99, 99, LIMIT))


@pytest.fixture
def full(project: Project) -> Project:
    """The project with three animals, a category and an order."""
    for _ in range(3):
        Pet.add(project.id, **REX)
    Order.place(project.id, 1)
    return project


def held(project: Project) -> int | None:
    return Project.get_by_id(project.id).rows_held


def test_exactly_the_limit_fits(full: Project):
    assert held(full) == LIMIT
    with pytest.raises(ProjectFull):
        Pet.add(full.id, **REX)
    assert held(full) == LIMIT


def test_full_project_changes_what_it_has(full: Project):
    assert Category.rename(full.id, 7, "Dogs") == ((7, "Dogs"), False)
    assert Order.change(full.id, 1, status="completed").status == "completed"
    assert held(full) == LIMIT


def test_other_projects_have_room(full: Project, rival: Project):
    Pet.add(rival.id, **REX)


def test_withdrawn_animal_makes_room(full: Project):
    Pet.withdraw(full.id, 3)
    Pet.add(full.id, **REX)
    assert held(full) == LIMIT


def test_what_is_refused_counts_for_nothing(project: Project):
    Pet.add(project.id, **REX)
    Order.place(project.id, 1)
    for refused in (Order.place, Pet.withdraw):
        with pytest.raises(PetNotAvailable):
            refused(project.id, 1)
    assert held(project) == 3


@pytest.mark.parametrize("plan", [("free",), ("enterprise", 9, 9)])
def test_larger_plan_has_room_at_once(full: Project, plan: tuple):
    full.change_plan(Plan(*plan))
    Pet.add(full.id, **REX)


def test_smaller_limit_takes_nothing_away(full: Project):
    full.change_limits(max_rows=2)
    with pytest.raises(ProjectFull, match="may hold 2 "):
        Pet.add(full.id, **REX)
    Pet.withdraw(full.id, 3)
    assert PetTable.select().count() == 2


def test_project_of_a_database_that_was_just_migrated_is_counted(full: Project):
    Project.update(rows_held=None).execute()
    Pet.add(full.id, **REX)
    housekeeping.tidy()
    assert held(full) == LIMIT + 1
