"""The activity of a project: what happened, who has caused it, and how much is kept."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from flask.testing import FlaskClient

import petstore
from petstore import events
from petstore.events import KEPT, KINDS
from petstore.models.activity import Activity, Event
from petstore.models.domains import Certificate, DnsResult, Domain
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage import db
from petstore.storage.lists import Part
from petstore.upkeep import housekeeping
from tests.harness.clocks import Clock
from tests.harness.host_fixtures import NAME, Own

PACKAGE = Path(petstore.__file__).parent
FOR_THE_OPERATOR = {"project_deleted", "domain_taken_over"}
OF_NO_PROJECT = {
    *("counters_lost", "counters_restored", "database_busy", "database_error"),
    "sign_in_failed",
}


def listed(project: Project, **part: int) -> list[Event]:
    return Event.listed(project.id, Part(**{"limit": KEPT} | part)).rows


def told(project: Project) -> list[tuple]:
    """Return what the newest events are, who has caused them, and their facts."""
    return [
        (event.title, event.actor, *event.facts.values()) for event in listed(project)
    ]


def act(project: Project, times: int = 1) -> None:
    for _ in range(times):
        events.emit_after_commit("key_revoked", project=project.slug, key="pet_x")


def names_emitted(calls: str) -> set[str]:
    """Return the names of the events that the code emits with these calls."""
    trees = [ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {
        name.value
        for node in nodes
        if isinstance(node, ast.Call) and re.fullmatch(calls, ast.unparse(node.func))
        for name in ast.walk(node.args[0])
        if isinstance(name, ast.Constant)
    }


def test_each_event_of_a_project_is_shown_to_it_or_for_the_operator_alone():
    for_projects = names_emitted(r".*\b_?emit|emit_after_commit") - OF_NO_PROJECT
    assert for_projects == KINDS.keys() | FOR_THE_OPERATOR
    assert not names_emitted("emit") & KINDS.keys(), "these are only logged"


def test_commands_are_those_of_the_operator(flask: Callable, project: Project):
    key = flask("keys", "create").stdout.strip()
    successor = flask("keys", "rotate", key[:16]).stdout.strip()
    flask("keys", "revoke", key[:16])
    flask("projects", "change", "shelter", "--plan", "pro")
    assert told(project) == [
        ("Plan changed", "operator", "pro", None, None, None),
        ("Key revoked", "operator", key[:16]),
        ("Key issued", "operator", successor[:16]),
        ("Key rotated", "operator", key[:16]),
        ("Key issued", "operator", key[:16]),
    ]


def test_key_is_banned_by_its_own_requests(
    client: FlaskClient, key: str, project: Project, clock: Clock
):
    project.change_plan(Plan("enterprise", 1, 10))
    while Key.by_prefix(key[:16]).banned_until_ms is None:
        client.get("/v1/pets")
        clock.move(seconds=1)
    until_ms = Key.by_prefix(key[:16]).banned_until_ms
    assert told(project)[0] == ("Key banned", key[:16], key[:16], until_ms)


def test_domain_that_is_lost_tells_neither_project_of_the_other(
    shop: Domain, rival: Project, own: Own
):
    own(rival, NAME)
    assert told(shop.project)[0] == ("Domain lost to another project", "service", NAME)
    assert [row[0] for row in told(rival)] == ["Domain verified", "Domain added"]
    assert rival.slug not in str(told(shop.project))
    assert shop.project.slug not in str(told(rival))


def test_failed_certificate_tells_the_reason_and_only_the_log_the_address(
    shop: Domain, capfd: pytest.CaptureFixture
):
    reason, detail = "The proxy cannot be reached.", "10.0.0.7:443: refused"
    shop.record_certificate(Certificate(None, None, reason, detail))
    assert told(shop.project)[0] == ("Certificate failed", "service", NAME, reason)
    assert f'"detail":"{detail}"' in capfd.readouterr().out


def test_certificate_that_fails_again_for_the_same_reason_is_no_event(shop: Domain):
    for fault in ("late", "late", "away", None, "away"):
        domain = Domain.find(shop.project, shop.id)
        domain.record_certificate(Certificate(None if fault else "CA", None, fault))
    assert [row[3:] for row in told(shop.project)[:3]] == [
        ("away",),
        ("away",),
        ("late",),
    ]


def test_another_proof_of_the_same_domain_is_no_event(shop: Domain):
    before = told(shop.project)
    shop.record(DnsResult(True, "again"), by_owner=True)
    assert told(shop.project) == before


def test_rolled_back_event_is_not_kept(project: Project):
    with db.atomic() as transaction:
        act(project)
        transaction.rollback()
    assert listed(project) == []


def test_another_project_sees_none_of_it(project: Project, rival: Project):
    act(project)
    assert listed(rival) == []


def test_deleted_project_has_no_activity(project: Project):
    events.emit_after_commit("key_revoked", project="gone", key="pet_x")
    assert not Activity.select().exists()


def test_newest_500_events_of_each_project_are_kept(project: Project, rival: Project):
    act(rival)
    act(project, KEPT + 3)
    ids = [event.id for event in listed(project)]
    assert ids == list(range(KEPT + 4, 4, -1))
    assert Activity.select().where(Activity.project == project).count() == KEPT
    assert len(listed(rival)) == 1


def test_events_are_kept_for_90_days(project: Project, clock: Clock):
    act(project, 2)
    clock.move(days=90)
    act(project)
    assert len(listed(project)) == 3
    clock.move(seconds=1)
    assert len(listed(project)) == 1
    housekeeping.tidy()
    assert Activity.select().count() == 1


def test_pages_go_from_the_newest_event_to_the_oldest_that_is_kept(
    project: Project, clock: Clock
):
    act(project, 3)
    clock.move(days=91)
    act(project, 5)
    newest = Event.listed(project.id, Part(3))
    assert [event.id for event in newest.rows] == [8, 7, 6]
    assert (newest.total, newest.is_exact, newest.next) == (5, True, 6)
    oldest = Event.listed(project.id, Part(3, after=6))
    assert [event.id for event in oldest.rows] == [5, 4]
    assert oldest.next is None
    assert [event.id for event in listed(project, limit=2, is_last=True)] == [5, 4]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_ban_waits_for_no_other_event_of_the_project(
    project: Project, key: str, database_url: str
):
    act(project, KEPT)
    with psycopg.connect(database_url) as other:  # an event that does not end
        other.execute("SELECT pg_advisory_xact_lock(%s)", (project.id,))
        other.execute("UPDATE project SET rows_held = 1")
        other.execute("DELETE FROM activity WHERE id < 100")
        Key.ban(Key.by_prefix(key[:16]).id, 2**62)
        other.rollback()
    assert told(project)[0] == ("Key banned", key[:16], key[:16], 2**62)
