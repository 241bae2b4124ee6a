"""What a project may cost at most: the product of all limits is what is documented."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from benchmarks import cost
from petstore import clock
from petstore.models.categories import CategoryTable
from petstore.models.credentials import digest_of
from petstore.models.domains import CHECK_AFTER_MS, MAX_DOMAINS
from petstore.models.keys import MAX_WORKING_KEYS, Key
from petstore.models.pets import PetTable
from petstore.models.plans import PLANS, Terms
from petstore.models.projects import Project
from petstore.models.searching import fold
from petstore.models.sessions import TOKEN_BYTES, Session
from petstore.models.stored_responses import StoredResponse
from petstore.quotas.limiter import NEW_KEYS, PAGES, RESERVE, SIGN_INS
from petstore.settings import read_settings
from petstore.storage import BaseModel
from petstore.storage.database import db
from tests.harness.clocks import START_MS
from tests.harness.documents import code_in, rows_of
from tests.harness.servers import ROOT

PAGE, HEADING = "operating.md", "What a project may cost"
# The bytes of a row with the largest values, its indexes included, by the engine.
LARGEST = {
    "pet": {"sqlite": 3_100, "postgresql": 3_500},
    "category": {"sqlite": 60, "postgresql": 150},
    "reply": {"sqlite": 2_200, "postgresql": 2_200},
    "session": {"sqlite": 250, "postgresql": 400},
}
MEASURED = 1_000  # rows of each table
MOST = 2**63 - 1
# Each key has a reserve of its own, and those that are issued during the day as well.
KEYS_A_DAY = MAX_WORKING_KEYS + 24 * NEW_KEYS.amount
RESERVES = KEYS_A_DAY * RESERVE.per_day


def largest(table: str) -> int:
    """Return the bytes of a row on the engine where it takes more."""
    return max(LARGEST[table].values())


def dearest(*cases: str) -> float:
    """Return the instructions of the dearest of these requests, on either store."""
    counted = cost.read(cost.COMMITTED)
    of_cases = [
        counted[store, case]["instructions"]
        for store in cost.USUAL_STORES
        for case in cases
    ]
    return 1000 * max(of_cases)


def product(terms: Terms) -> Iterator[str]:
    """Yield the cells of a plan: what it allows in rows, bytes and so on."""
    per_day = terms.quota.per_day
    animal, category, reply, session = map(
        largest, ("pet", "category", "reply", "session")
    )
    # A response is stored for 24 hours, which lie in two UTC days.
    stored, sessions = 2 * per_day * reply, (SIGN_INS.per_day + RESERVES) * session
    # A file may fill the project, and each animal that is withdrawn makes room again.
    rows = terms.rows + per_day
    yield f"{rows:,}"
    yield megabytes(rows * max(animal, category) + per_day * reply + sessions)
    yield megabytes(terms.rows * animal + stored + sessions)
    yield billions(per_day * dearest("hundred", "create", "once"))


def product_of_each_plan() -> Iterator[str]:
    """Yield the parts of the sentences below the table, for all plans alike."""
    pages = PAGES.per_day + RESERVES
    yield f"{pages:,} pages a day may take"
    yield f"{billions(pages * dearest('page'))} billion instructions"
    checks = clock.MS_PER_DAY // CHECK_AFTER_MS
    orders = read_settings({}).new_domains_per_day + MAX_DOMAINS * checks
    yield f"{orders:,} certificate orders a day"
    yield f"{MAX_DOMAINS} certificates"


def megabytes(number: int) -> str:
    return f"{number / 10**6:,.0f}"


def billions(number: float) -> str:
    """Round to two digits: counting again finds one in a hundred more or less."""
    return f"{float(f'{number / 10**9:.2g}'):,g}"


def test_product_of_the_limits_of_each_plan_is_documented():
    told = {code_in(plan)[0]: cells for plan, *cells in rows_of(PAGE, HEADING)}
    assert told == {
        name: list(product(terms)) for name, terms in PLANS.items() if terms.quota
    }


def test_product_of_the_limits_that_all_plans_share_is_documented():
    page = " ".join((ROOT / "docs" / PAGE).read_text().split())
    told = page.partition(f"### {HEADING} ")[2].partition(" ### ")[0]
    assert [part for part in product_of_each_plan() if part not in told] == []


@pytest.fixture
def any_() -> random.Random:
    """Texts and numbers that no database can compress."""
    return random.Random(0)


def name(any_: random.Random) -> str:
    """Return a name of 200 characters that take four bytes each."""
    return "".join(chr(any_.randrange(0x10000, 0x110000)) for _ in range(200))


Row = dict[str, Any]


def animal(any_: random.Random, number: int) -> Row:
    called, category = name(any_), any_.randrange(MOST)
    texts = {"name": called, "folded": fold(called), "status": "available"}
    return texts | {"category_id": category}


def category(any_: random.Random, number: int) -> Row:
    """Return the category that a new animal brings along, without a name."""
    return {"id": any_.randrange(MOST)}


def reply(any_: random.Random, number: int) -> Row:
    body = f'{{"id":{MOST},"name":"{name(any_)}","categoryId":{MOST},"status":"sold"}}'
    return {
        "path": "/v1/store/orders",
        "key": "".join(chr(any_.randrange(ord("!"), ord("~"))) for _ in range(255)),
        "fingerprint": any_.randbytes(32),
        "created_ms": number,
        "status": 201,
        "location": f"/v1/store/orders/{MOST}",
        "body": body.encode(),
    }


def session(any_: random.Random, number: int) -> Row:
    token = any_.randbytes(TOKEN_BYTES).hex()
    instants = dict.fromkeys(("ends_ms", "began_ms", "seen_ms"), START_MS + number)
    return {"digest": digest_of(token).hex()} | instants


TABLES: dict[str, tuple[type[BaseModel], Callable[[random.Random, int], Row]]] = {
    "pet": (PetTable, animal),
    "category": (CategoryTable, category),
    "reply": (StoredResponse, reply),
    "session": (Session, session),
}


def size(table: str) -> int:
    """Return the bytes of a table and its indexes; on SQLite, those of all tables."""
    sizes = f"SELECT pg_total_relation_size('{table}')"
    if db.file:
        sizes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    [(bytes_,)] = db.execute_sql(sizes).fetchall()
    return bytes_


@pytest.mark.parametrize("table", TABLES)
def test_largest_rows_take_as_many_bytes_as_the_product_counts(
    project: Project, key: str, any_: random.Random, table: str
):
    model, make = TABLES[table]
    owner = {"key": Key.get().id} if model is Session else {"project": project.id}
    if not db.file:  # rows of tests before may have left room
        db.execute_sql(f"TRUNCATE {table} CASCADE")
    before = size(table)
    for number in range(MEASURED):
        model.insert(make(any_, number) | owner).execute()
    measured = (size(table) - before) / MEASURED
    stated = LARGEST[table]["sqlite" if db.file else "postgresql"]
    assert 0.75 * stated <= measured <= stated
