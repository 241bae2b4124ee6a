"""Keys that have ended: few are kept, and none makes anything slower."""

from collections.abc import Callable
from itertools import product

import pytest

from petstore.models.callers import Caller
from petstore.models.keys import MAX_ENDED_KEYS, Key
from petstore.models.projects import Project
from petstore.models.sessions import Session
from petstore.storage.database import db
from tests.harness.clocks import START_MS, Clock
from tests.harness.limits import fill_up_ended_keys
from tests.harness.statements import Statement

MANY = 40_000
AT_ONCE = 20_000  # within the time limit of a statement


def issue_and_revoke(project: Project, count: int = 1) -> list[str]:
    """Issue keys that end at once; return their prefixes."""
    prefixes = [Key.issue(project)[:16] for _ in range(count)]
    for prefix in prefixes:
        Key.by_prefix(prefix).revoke()
    return prefixes


def ended(project: Project) -> list[str]:
    return [key.prefix for key in Key.listed(project.id, "ended")]


def test_the_newest_ended_keys_are_kept(project: Project, clock: Clock):
    working = Key.issue(project)[:16]
    oldest = issue_and_revoke(project, 3)
    clock.move(seconds=1)
    fill_up_ended_keys(project, leave=3)
    assert ended(project)[-3:] == oldest[::-1]
    prefixes = []
    for _ in range(3):
        clock.move(seconds=1)
        prefixes += issue_and_revoke(project)
    assert ended(project)[:3] == prefixes[::-1]
    assert not set(oldest) & set(ended(project))
    Key.issue(project)
    kept = Key.select().where(Key.project == project).count()
    assert kept == MAX_ENDED_KEYS + 2
    assert Key.by_prefix(working).state == "active"


def test_ended_keys_are_kept_for_30_days(project: Project, clock: Clock):
    prefixes = issue_and_revoke(project, 2)
    clock.move(days=29.9)
    assert ended(project) == prefixes[::-1]
    clock.move(days=0.1)
    assert ended(project) == Key.all_by_id(project) == []
    Key.issue(project)
    assert Key.select().where(Key.project == project).count() == 1


@pytest.mark.parametrize(
    ("expires", "grace", "state"),
    [(60, 30, "retired"), (30, 60, "expired"), (30, None, "expired")],
)
def test_key_counts_as_ended_from_its_first_end(
    project: Project, clock: Clock, expires: int, grace: int | None, state: str
):
    key = Key.by_prefix(Key.issue(project, expires_ms=START_MS + expires * 1000)[:16])
    if grace is not None:
        key.rotate(grace)
    clock.move(seconds=29)
    assert key.prefix not in ended(project)
    clock.move(seconds=1)
    assert key.prefix in ended(project)
    assert Key.by_prefix(key.prefix).state == state


@pytest.mark.parametrize(
    ("end", "state"),
    [(Key.revoke, "revoked"), (lambda key: key.rotate(0), "retired")],
)
def test_key_that_ends_at_once_ends_whatever_the_clocks_of_other_hosts_say(
    project: Project, clock: Clock, end: Callable[[Key], object], state: str
):
    key = Key.issue(project)
    end(Key.by_prefix(key[:16]))
    clock.move(seconds=-30)
    assert Caller.of(key) is None
    assert Key.by_prefix(key[:16]).state == state


ENDS = [None, START_MS - 1, START_MS, START_MS + 1]


def test_queries_and_states_agree_on_which_keys_work(project: Project):
    for expires, retires, revoked in product(ENDS, repeat=3):
        prefix = Key.issue(project)[:16]
        Key.update(expires_ms=expires, retires_ms=retires, revoked_ms=revoked).where(
            Key.prefix == prefix
        ).execute()
        key, listed = Key.by_prefix(prefix), Key.listed(project.id, "working")
        ends = [end for end in (expires, retires) if end is not None]
        assert key.ends_ms == min(ends, default=None)
        works = key.state in ("active", "retiring")
        assert works == (revoked is None and all(end > START_MS for end in ends))
        assert works == (prefix in [each.prefix for each in listed])
        Key.delete().where(Key.prefix == prefix).execute()


def test_key_that_another_hosts_clock_revoked_does_not_work(
    project: Project, key: str, clock: Clock
):
    Key.update(revoked_ms=clock.now_ms + 5000).execute()
    assert Caller.of(key) is None


def test_another_projects_ended_keys_are_kept(project: Project, rival: Project):
    for each in (project, rival):
        fill_up_ended_keys(each, leave=-2)
    Key.issue(project)
    of_rival = Key.select().where(Key.project == rival)
    assert of_rival.count() == MAX_ENDED_KEYS + 2
    of_project = Key.select().where(Key.project == project)
    assert of_project.count() == MAX_ENDED_KEYS + 1


def test_sessions_go_with_their_key(project: Project, key: str, clock: Clock):
    Session.begin(Caller.of(key))
    Key.by_prefix(key[:16]).revoke()
    clock.move(seconds=1)
    fill_up_ended_keys(project, leave=0)
    Key.issue(project)
    assert Session.select().count() == 0


WORK = {
    "list working": lambda p: Key.listed(p.id, "working"),
    "list ended": lambda p: Key.listed(p.id, "ended"),
    "issue": lambda p: Key.issue(p, is_limited=True),
}


@pytest.fixture
def cost_of(statements: list[Statement], project: Project) -> Callable[[str], int]:
    """A function that returns what the queries of an operation read."""

    def cost_of(name: str) -> int:
        statements.clear()
        WORK[name](project)
        repeatable = [s for s in statements if not s.sql.startswith("INSERT")]
        return sum(statement.cost() for statement in repeatable)

    return cost_of


def insert_ended(owners: list[Project], first: int, count: int) -> None:
    """Insert keys that have ended, one each millisecond."""
    for owner in owners:
        db.execute_sql(
            "WITH RECURSIVE n (n) AS (SELECT"
            f" {first} UNION ALL SELECT n + 1 FROM n WHERE n < {first + count - 1})"
            " INSERT INTO api_key (project_id, prefix, digest, created_ms, retires_ms)"
            f" SELECT {owner.id}, '{owner.id}-' || n, '', 1, {START_MS} - n FROM n"
        )


def test_history_makes_nothing_dearer(
    project: Project,
    rival: Project,
    cost_of: Callable[[str], int],
    monkeypatch: pytest.MonkeyPatch,
):
    # For 100 of 2,000 keys, PostgreSQL reads all once autovacuum has counted them.
    monkeypatch.setattr("petstore.models.keys.MAX_ENDED_KEYS", 3)
    for _ in range(10):
        Key.issue(project)
    insert_ended([project, rival], 1, 1000)
    db.execute_sql("ANALYZE api_key")
    before = {name: cost_of(name) for name in WORK}
    for first in range(1001, MANY, AT_ONCE):
        insert_ended([project, rival], first, AT_ONCE)
    db.execute_sql("ANALYZE api_key")
    after = {name: cost_of(name) for name in WORK}
    for name in WORK:
        assert after[name] <= 2 * before[name]
