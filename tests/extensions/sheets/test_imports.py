"""Imports: a question only reads, and the answer does what is right by then."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from petstore.extensions.sheets.imports import MAX_NEW_ID, LinesAtFault, foresee
from petstore.extensions.sheets.storing import store
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.searching import searchable
from petstore.storage import db
from tests.harness.browser import Browser, add_pet, category_names, shown_choices
from tests.harness.databases import locked, of_both_engines
from tests.harness.statements import recorded

pytestmark = of_both_engines
FILE = "id,name,categoryId,category\n1,Max,,\n,Tom,,Cats\n,Bo,12,\n,Mimi,,Birds\n"
WRITTEN = """
SELECT wal_bytes, (SELECT sum(last_value) FROM pg_sequences),
    (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables)
FROM pg_stat_get_backend_wal(pg_backend_pid())
"""
OURS = {"id": "id"}
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


def test_question_and_answer_at_fault_write_nothing_and_question_waits_for_nobody(
    browser: Browser, request: pytest.FixtureRequest, lock: Lock
):
    add_pet(request.getfixturevalue("project"), "Rex")
    told = "3 animals would be added. 1 animal would be corrected."
    file = FILE.replace("1,Max,", "1,Rex,8")
    for lines, act in ((file, browser.read), (file + "1,Rex,,\n", browser.follow)):
        question = browser.upload(lines).location
        page = browser.get(question)  # the server now knows what was committed
        chosen = shown_choices(page.text) if act == browser.follow else {}
        for _ in range(3):
            before = written()
            with lock() if act == browser.read else nullcontext():
                assert told in act(question, **chosen)
            if written() == before:
                break
        else:  # what the server writes by itself, it does not write each time
            raise AssertionError("each look has written something")


def test_answer_does_what_is_right_by_then(project: Project):
    add_pet(project, "Rex")
    preview = foresee(project, FILE.encode(), OURS)
    Category.rename(project.id, 40, "cats")
    Category.rename(project.id, 12, "Fish")
    Pet.correct(project.id, 1, name="Max")
    with pytest.raises(LinesAtFault):
        store(project, preview, is_shown=True)
    done = store(project, preview)
    assert (len(done.added), done.corrected, done.new_categories) == (3, [], ["Birds"])
    pets = Pet.page(project.id, after=1, limit=9)
    assert [pet.category_id for pet in pets] == [40, 12, 41]
    assert Project.get_by_id(project.id).rows_held == 4 + 4


def test_answer_takes_few_statements_while_others_wait(project: Project):
    for lines in (
        "name,category\n" + "".join(f"Rex,Kind {n}\n" for n in range(1_000)),
        "name,categoryId\n" + "".join(f"Rex,{n + 5_000}\n" for n in range(1_000)),
        "id,name,status\n" + "".join(f"{n},Tom,sold\n" for n in range(1, 1_001)),
    ):
        preview = foresee(project, lines.encode(), OURS)
        with recorded() as statements:
            store(project, preview)
        gists = Counter(each.gist for each in statements)
        # Categories and animals in three parts each, and what the project has of them.
        assert gists.total() < 30, gists
    assert {x.name for x in Pet.page(project.id, after=0, limit=1_000)} == {"Tom"}
    last = Pet.get_own(project.id, 1_000)
    assert (last.name, last.status, last.category_id) == ("Tom", "sold", 1_000)


def test_line_changes_nothing_but_what_it_says(project: Project):
    for name in ("Rex", "Tom", "Bo"):
        add_pet(project, name)
    lines = b"id,name,status,category\n1,Max,,\n2,Tom,sold,\n3,Luna,,Cats\n"
    preview = foresee(project, lines, OURS)
    Pet.correct(project.id, 1, status="sold")
    store(project, preview)
    pets = Pet.page(project.id, after=0, limit=9)
    assert [pet[1:4] for pet in pets] == [
        ("Max", 7, "sold"),
        ("Tom", 7, "sold"),
        ("Luna", 8, "available"),
    ]
    assert Pet.get_by_id(1).folded == searchable("Max")


def test_new_categories_take_free_numbers_where_none_follows(project: Project):
    Category.rename(project.id, MAX_NEW_ID - 1, "Dogs")
    store(project, foresee(project, b"name,category\nRex,Cats\nTom,Birds\n"))
    [rex, tom] = Pet.page(project.id, after=0, limit=9)
    assert category_names(project, {rex.category_id}) == {rex.category_id: "Cats"}
    assert category_names(project, {tom.category_id}) == {tom.category_id: "Birds"}


def test_answer_does_nothing_where_a_line_is_wrong_by_then(project: Project):
    add_pet(project, "Rex")
    preview = foresee(project, b"id,status\n1,sold\n")
    Order.place(project.id, 1)
    with pytest.raises(LinesAtFault):
        store(project, preview)
    assert Pet.get_own(project.id, 1).status == "pending"
