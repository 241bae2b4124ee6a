"""Imports: a question only reads, and the answer does what is right by then."""

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.sheets.imports import LinesAtFault, Plan, Sheet, foresee, store
from petstore.storage import db
from tests.harness.browser import Browser, add_pet
from tests.harness.databases import locked, of_both_engines

pytestmark = of_both_engines
FILE = "id,name,categoryId,category\n1,Max,,\n,Tom,,Cats\n,Bo,12,\n,Mimi,,Birds\n"
SOLD = "id,status\n1,sold\n"
WRITTEN = """
SELECT wal_bytes, (SELECT sum(last_value) FROM pg_sequences),
    (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables)
FROM pg_stat_get_backend_wal(pg_backend_pid())
"""
Lock = Callable[[], AbstractContextManager]


def written() -> Any:
    """Return what SQLite's files hold, or how much was written to PostgreSQL.

    That is the WAL, the ids, and all rows, those of what was rolled back too.
    """
    if db.file:
        return [Path(f"{db.file}{end}").read_bytes() for end in ("", "-wal")]
    db.execute_sql("SELECT pg_stat_force_next_flush()")
    return db.execute_sql(WRITTEN).fetchall()


@pytest.fixture
def lock(database_url: str, request: pytest.FixtureRequest) -> Lock:
    """A function that locks the file of the data, or the rows of projects."""
    if database_url.startswith("sqlite"):
        return lambda: locked(str(db.file))

    @contextmanager
    def lock() -> Any:
        other = request.getfixturevalue("postgresql")
        with other.transaction():
            yield other.execute("SELECT id FROM project FOR UPDATE")

    return lock


@pytest.fixture
def browser(
    environ: dict[str, str], redis_url: str, request: pytest.FixtureRequest
) -> Browser:
    """A browser with a session, whose pages and forms are counted in Redis."""
    environ["REDIS_URL"] = redis_url
    return Browser(*map(request.getfixturevalue, ("app", "key")))


def test_question_writes_nothing_and_waits_for_no_writer(
    browser: Browser, request: pytest.FixtureRequest, lock: Lock
):
    add_pet(request.getfixturevalue("project"), "Rex")
    question = browser.upload(FILE).location
    told = browser.read(question)  # the server now knows what was committed
    assert "3 animals would be added. 1 animal would be corrected." in told
    before = written()
    with lock():
        assert browser.read(question) == told
    assert written() == before


def test_answer_at_fault_writes_nothing(
    browser: Browser, request: pytest.FixtureRequest
):
    project = request.getfixturevalue("project")
    Order.place(project.id, add_pet(project, "Rex"))
    question = browser.upload(FILE + "1,Moritz,,\n").location
    browser.submit(question)
    before = written()
    assert "Line 6: id: 1 stands in line 2" in browser.follow(question)
    assert written() == before


@pytest.fixture
def plan(project: Project) -> Plan:
    """What the file would do to the project, which has one animal."""
    add_pet(project, "Rex")
    return foresee(project, Sheet(FILE.encode()))


def test_answer_does_what_is_right_by_then(project: Project, plan: Plan):
    Category.rename(project.id, 40, "cats")
    Category.rename(project.id, 12, "Fish")
    Pet.correct(project.id, 1, name="Max")
    done = store(project, plan)
    assert (len(done.added), done.corrected, done.new_categories) == (3, {}, ["Birds"])
    pets = Pet.page(project.id, after=1, limit=9)
    assert [pet.category_id for pet in pets] == [40, 12, 41]
    assert Project.get_by_id(project.id).rows_held == 4 + 4


def test_answer_does_nothing_where_a_line_is_wrong_by_then(project: Project):
    add_pet(project, "Rex")
    plan = foresee(project, Sheet((SOLD + "\n").encode()))
    Order.place(project.id, 1)
    with pytest.raises(LinesAtFault) as error:
        store(project, plan)
    assert [fault.line for fault in error.value.faults] == [2]
    assert Pet.find(project.id, 1).status == "pending"
