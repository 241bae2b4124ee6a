"""Rows in every table: what a project and others beside it may leave in a month.

Some are in use, and others have ended or are outdated. They are inserted by SQL that is
the same on both engines, into databases that contain nothing but the project and a key.
"""

from collections.abc import Iterator
from typing import NamedTuple

from petstore import clock
from petstore.models.projects import Project
from petstore.models.requests import FAILURES_KEPT, SHOWN_DAYS
from petstore.quotas.limiter import NEW_KEYS
from petstore.storage import BaseModel, CounterModel, counters, db

DAYS = 30
KEPT_MS = 2 * clock.MS_PER_DAY  # of stored responses, half of which are outdated
KEYS = 50  # of the project that work
DOMAINS = 90  # of each project, which may have 100
BODY = "x" * 150
FIGURES = "short_ends_ms, short_used, long_ends_ms, long_used, hit_ms, is_granted"


class Filling(NamedTuple):
    """Rows of a table: its columns, and an SQL expression for each of row number `n`.

    The first row has the number 1.
    """

    count: int
    into: str
    values: str


def fill(project: Project, rows: int) -> None:
    """Insert so many rows of the project, and as many of others between them."""
    for filling in _data(project, rows):
        _insert(db, filling)
    for filling in _counters(rows):
        _insert(counters, filling)
    tables = [*BaseModel.__subclasses__(), *CounterModel.__subclasses__()]
    empty = [table.__name__ for table in tables if not table.select().exists()]
    # Workers add and delete what is left of an import within seconds.
    assert set(empty) <= {"ImportedPart", "Secret"}, f"not filled: {empty}"
    if not db.file:  # as PostgreSQL does by itself, sooner or later
        db.execute_sql("ANALYZE")


def _data(project: Project, rows: int) -> Iterator[Filling]:
    # Of so many projects that PostgreSQL does not read whole tables for one of them.
    now, others, own = clock.now_ms(), 20 + rows // 1000, project.id
    owner = f"CASE WHEN n % 2 = 0 THEN {own} ELSE {own} + 1 + n / 2 % {others} END"
    categories, replies, sessions = rows // 5, rows * 2 // 5, rows * 2 // 5
    ended = _ended_keys(rows)
    yield Filling(
        others,
        "project (slug, name, plan, created_ms)",
        f"'other-' || n, 'Other', 'pro', {now}",
    )
    yield Filling(others, "slug (slug)", "'gone-' || n")
    yield Filling(
        categories, "category (project_id, id, name)", f"{owner}, n, 'Kind ' || n"
    )
    yield Filling(
        rows * 6 // 5,
        "pet (project_id, name, category_id, status)",
        f"{owner}, 'Rex the dog, number ' || n, n % {categories},"
        f" {_one_of('available', 'sold', 'pending')}",
    )
    yield Filling(
        rows * 3 // 5,
        "pet_order (project_id, pet_id, status, created_ms, updated_ms)",
        f"{owner}, n, {_one_of('placed', 'completed', 'cancelled')}, {now}, {now}",
    )
    yield Filling(
        replies,
        "reply (project_id, path, key, fingerprint, created_ms, status, body)",
        f"{owner}, '/v1/pets', 'filled-' || n, '',"
        f" {now} - n * {KEPT_MS} / {replies}, 201, '{BODY}'",
    )
    yield Filling(
        2 * KEYS + ended,
        "api_key (project_id, prefix, digest, created_ms, revoked_ms)",
        f"{owner}, 'filled-' || n, '', {now},"
        f" CASE WHEN n > {2 * KEYS} THEN {now} - n * 36000 END",
    )
    yield Filling(
        sessions,
        "session (digest, key_id, ends_ms)",
        f"'filled-' || n, 1 + n % {ended}, {now} + ({sessions} / 2 - n) * 1000",
    )
    yield Filling(
        FAILURES_KEPT * (1 + others),
        "failed_request (project_id, at_ms, operation, status, code, message,"
        " key_prefix, request_id)",
        f"{own} + n % {1 + others}, {now} - n, 'getPet', 404, 'not_found', '{BODY}',"
        " 'pet_filled', 'filled-' || n",
    )
    yield Filling(
        ended * SHOWN_DAYS,
        "key_usage (key_id, day, served, refused)",
        f"1 + n / {SHOWN_DAYS}, {now // clock.MS_PER_DAY} - n % {SHOWN_DAYS}, n, n",
    )
    yield Filling(
        (1 + others) * 500,
        "activity (project_id, at_ms, name, actor, facts)",
        f"{own} + (n - 1) / 500, {now} - n, 'signed_in', 'filled', '{{}}'",
    )
    yield Filling(
        others, "domain_token (project_id, token)", f"{own} + n, 'token-' || n"
    )
    yield Filling(
        others * DOMAINS,
        "domain (project_id, name, created_ms, verified_ms, is_chosen, looked_ms)",
        f"{own} + n / {DOMAINS}, 'filled-' || n || '.example.org', {now},"
        f" CASE WHEN n % 3 = 0 THEN {now} END, 1 = 0, {now} - n",
    )


def _counters(rows: int) -> Iterator[Filling]:
    now = clock.now_ms()
    yield Filling(
        rows // 5,
        f"counter (subject, {FIGURES})",
        f"'address:' || n, {now}, 1, {now} - n % {DAYS} * {clock.MS_PER_DAY}, 1,"
        f" {now}, 1 = 1",
    )
    yield Filling(
        _ended_keys(rows),
        "strike (key_id, minute, strikes, refused_ms, counts)",
        f"n, 0, 1, {now}, 1 = 1",
    )


def _ended_keys(rows: int) -> int:
    return min(rows, DAYS * 24 * NEW_KEYS.amount)


def _one_of(*texts: str) -> str:
    """Return an expression that has each value for several rows in turn."""
    cases = (f"WHEN {number} THEN '{text}'" for number, text in enumerate(texts))
    return f"CASE n / 10 % {len(texts)} {' '.join(cases)} END"


def _insert(database: object, filling: Filling) -> None:
    sql = (
        "WITH RECURSIVE n (n) AS (SELECT CAST(1 AS bigint)"
        f" UNION ALL SELECT n + 1 FROM n WHERE n < {filling.count})"
        f" INSERT INTO {filling.into} SELECT {filling.values} FROM n"
    )
    # psycopg takes a percent sign for the beginning of a parameter.
    database.execute_sql(sql if database.file else sql.replace("%", "%%"))
