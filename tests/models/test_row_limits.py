"""How many animals, orders and categories a project may hold together."""

from collections.abc import Callable

import peewee
import pytest

from petstore.models.categories import Category, CategoryTable
from petstore.models.orders import Order, OrderTable
from petstore.models.pets import Pet, PetTable
from petstore.models.projects import Plan, Project
from petstore.models.row_limits import ProjectFull, row_limits
from tests.harness.clocks import Clock

REX = {"name": "Rex", "category_id": 7, "status": "available"}
LIMIT = 5


@pytest.fixture
def project(app: object) -> Project:
    """A project that may hold five rows."""
    return Project.add("Shelter", None, Plan("enterprise", 99, 99, LIMIT))


@pytest.fixture
def count(clock: Clock) -> Callable[[], None]:
    """A function that counts as the background does, a while later."""

    def count() -> None:
        clock.move(seconds=15)
        row_limits.count()

    return count


@pytest.fixture
def full(project: Project, count: Callable) -> Project:
    """The project with three animals, a category and an order."""
    for _ in range(3):
        Pet.add(project.id, **REX)
    Order.place(project.id, 1)
    count()
    return project


def test_full_project_changes_what_it_has(full: Project):
    assert Category.rename(full.id, 7, "Dogs") == ((7, "Dogs"), False)
    assert Order.complete(full.id, 1).status == "completed"
    assert len(Pet.page(full.id, after=0, limit=9, status=None)) == 3


def test_other_projects_have_room(full: Project, rival: Project):
    Pet.add(rival.id, **REX)


def test_project_is_not_full_before_its_last_row(project: Project, count: Callable):
    for _ in range(LIMIT - 1):
        count()
        Pet.add(project.id, **REX)
    count()
    assert Project.get_by_id(project.id).rows_used == LIMIT
    with pytest.raises(ProjectFull):
        Pet.add(project.id, **REX)


def test_rows_that_were_deleted_make_room(full: Project, count: Callable):
    PetTable.delete().where(PetTable.id == 3).execute()
    row_limits.count_soon(full.id)
    count()
    Pet.add(full.id, **REX)


def test_full_project_is_counted_again_after_a_while(
    full: Project, count: Callable, clock: Clock
):
    PetTable.delete().where(PetTable.id == 3).execute()
    count()
    with pytest.raises(ProjectFull):
        Pet.add(full.id, **REX)
    clock.move(days=1)
    count()
    Pet.add(full.id, **REX)


@pytest.mark.parametrize("plan", [("free",), ("enterprise", 9, 9)])
def test_another_limit_is_noticed_although_nobody_asks(
    full: Project, count: Callable, plan: tuple
):
    full.change_plan(Plan(*plan))
    count()
    Pet.add(full.id, **REX)


def test_smaller_limit_is_noticed_and_takes_nothing_away(
    full: Project, count: Callable
):
    full.change_limits(max_rows=2)
    count()
    with pytest.raises(ProjectFull, match="may hold 2 "):
        Pet.add(full.id, **REX)
    assert PetTable.select().count() == 3


def test_deleted_project_is_forgotten(full: Project, count: Callable):
    for table in (OrderTable, PetTable, CategoryTable, Project):
        table.delete().execute()
    count()
    row_limits.require_room(full.id)


def test_rows_are_counted_when_the_database_is_back(
    project: Project, count: Callable, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object, **__: object) -> None:
        raise peewee.OperationalError("away")

    for _ in range(LIMIT):
        Pet.add(project.id, **REX)
    with monkeypatch.context() as patch:
        patch.setattr(Project, "select", fail)
        count()
    Pet.add(project.id, **REX)
    count()
    with pytest.raises(ProjectFull):
        Pet.add(project.id, **REX)
