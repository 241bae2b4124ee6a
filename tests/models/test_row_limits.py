"""How many animals, orders and categories a project may hold together."""

from collections.abc import Callable

import peewee
import pytest

from petstore.models import row_limits as module
from petstore.models.categories import Category, CategoryTable
from petstore.models.orders import Order, OrderTable
from petstore.models.pets import Pet, PetTable
from petstore.models.projects import Plan, Project
from petstore.models.row_limits import ProjectFull, RowLimits, row_limits
from petstore.storage.database import db
from tests.harness.clocks import Clock
from tests.harness.statements import recorded

REX = {"name": "Rex", "category_id": 7, "status": "available"}
LIMIT = 5
FEW, MANY = 40, 4_000


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


def test_project_is_not_counted_before_its_requests_can_have_filled_it(
    project: Project, count: Callable, clock: Clock
):
    project.change_plan(Plan("enterprise", 1, 99, 100))
    Pet.add(project.id, **REX)
    count()
    Pet.add(project.id, **REX)
    for minutes, times in ((20, 0), (4, 1), (0, 0)):
        clock.move(seconds=60 * minutes)
        with recorded() as statements:
            count()
        counts = [each for each in statements if each.sql.startswith("SELECT COUNT")]
        assert len(counts) == 3 * times
    assert Project.get_by_id(project.id).rows_used == 3


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


def another_process() -> RowLimits:
    process = RowLimits()
    for key in (PetTable.id, OrderTable.id, CategoryTable.id):
        process.include(key)
    return process


def test_process_that_has_just_started_learns_what_another_has_counted(full: Project):
    process = another_process()
    process.require_room(full.id)
    with recorded() as statements:
        process.count()
    assert [each.gist for each in statements] == ["SELECT project"]
    with pytest.raises(ProjectFull):
        process.require_room(full.id)


def test_row_that_is_added_after_the_count_of_another_process_is_counted_later(
    project: Project, count: Callable, clock: Clock
):
    for _ in range(LIMIT - 1):
        Pet.add(project.id, **REX)
    PetTable.delete().where(PetTable.id == 1).execute()
    count()
    process = another_process()
    process.require_room(project.id)
    PetTable.insert(**REX, project=project.id).execute()
    process.count()
    process.require_room(project.id)
    clock.move(seconds=8)
    process.count()
    with pytest.raises(ProjectFull):
        process.require_room(project.id)


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


def test_project_without_a_limit_is_not_counted(project: Project, count: Callable):
    project.change_plan(Plan("enterprise", 9, 9))
    Project.update(max_rows=None).execute()
    Pet.add(project.id, **REX)
    with recorded() as statements:
        count()
    assert [each.gist for each in statements] == ["SELECT project"]


def fill(project: Project, rows: int) -> None:
    for columns, values in (
        ("pet (project_id, name, category_id, status)", "'Rex', 7, 'sold'"),
        (
            "pet_order (project_id, pet_id, status, created_ms, updated_ms)",
            "(SELECT min(id) FROM pet), 'placed', 0, 0",
        ),
        ("category (project_id, id)", "n"),
    ):
        db.execute_sql(
            "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n"
            f" WHERE n < {rows - 1}) INSERT INTO {columns}"
            f" SELECT {project.id}, {values} FROM n"
        )


def test_all_three_tables_are_counted_a_few_rows_at_a_time_along_an_index(
    project: Project, rival: Project, count: Callable, set_limits: Callable
):
    fill(rival, MANY)
    fill(project, FEW)
    db.execute_sql("ANALYZE")
    set_limits(counted_rows=FEW, count_pause_seconds=0)
    for each in (project, rival):
        row_limits.count_soon(each.id)
    Project.update(max_rows=10**9).where(Project.id == project.id).execute()
    with recorded() as statements:
        count()
    assert {row.slug: row.rows_used for row in Project.select()} == {
        "shelter": 3 * FEW,
        "rival": 3 * MANY,
    }
    pieces = [each for each in statements if each.sql.startswith("SELECT COUNT")]
    assert len(pieces) == 3 * (2 + MANY // FEW + 1)
    costs = [piece.cost() for piece in pieces]
    assert max(costs) <= 2 * costs[0] + 5
    for piece in pieces:
        values = (
            piece.values if isinstance(piece.values, list) else [*piece.values.values()]
        )
        if rival.id not in values:
            continue  # the rows of the other project fit into one piece
        plan = piece.plan()
        assert "SEARCH" in plan or "Index" in plan
        for detour in ("SCAN t1", "TEMP B-TREE", "Seq Scan", "Sort"):
            assert detour not in plan, piece.sql


def test_counting_stops_at_the_limit(
    project: Project, count: Callable, set_limits: Callable
):
    fill(project, MANY)
    set_limits(counted_rows=FEW, count_pause_seconds=0)
    row_limits.count_soon(project.id)
    with recorded() as statements:
        count()
    assert len(statements) <= 3
    assert Project.get_by_id(project.id).is_full


def test_nothing_runs_in_the_background_until_a_row_is_added(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    started = []
    monkeypatch.setattr(module, "start", started.append)
    process = another_process()
    assert not started
    for _ in range(3):
        process.require_room(project.id)
    assert len(started) == 1
