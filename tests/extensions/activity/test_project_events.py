"""The activity of a project: what happened, who has caused it, and how much is kept."""

import psycopg
import pytest

from petstore.extensions.activity import pages
from petstore.extensions.activity.events import title_of
from petstore.extensions.dashboard import Cursor
from petstore.extensions.hosting.models import Certificate, DnsResult, Domain
from petstore.models.activity import KEPT, Event, emit_after_commit
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.extensions.hosting.fixtures import NAME, Own
from tests.harness import servers
from tests.harness.clocks import START_MS, Clock
from tests.harness.databases import of_one_engine


def listed(project: Project, **part: int) -> list[Event]:
    return pages.listed(project.id, Cursor(**{"limit": KEPT} | part)).rows


def told(project: Project) -> list[tuple]:
    """Return what the newest events are, who has caused them, and their facts."""
    return [
        (title_of(event), event.actor, *event.facts.values())
        for event in listed(project)
    ]


def act(project: Project, times: int = 1) -> None:
    for _ in range(times):
        emit_after_commit("key_revoked", project=project.slug, key="pet_x")


def fill(project: Project) -> None:
    """Add as many events as are kept."""
    event = {"project": project, "at_ms": START_MS, "name": "x", "actor": "operator"}
    Event.insert_many([event | {"facts": "{}"}] * KEPT).execute()


@of_one_engine
def test_domain_that_is_lost_tells_neither_project_of_the_other(
    shop: Domain, rival: Project, own: Own
):
    before = told(shop.project)
    shop.record(DnsResult(True, "again"), by_owner=True)
    assert told(shop.project) == before
    own(rival, NAME)
    assert told(shop.project)[0] == ("Domain lost to another project", "service", NAME)
    assert [row[0] for row in told(rival)] == ["Domain verified", "Domain added"]
    assert rival.slug not in str(told(shop.project))
    assert shop.project.slug not in str(told(rival))


@of_one_engine
def test_certificate_that_fails_for_a_new_reason_is_an_event_without_the_address(
    shop: Domain, capfd: pytest.CaptureFixture
):
    for fault in ("late", "late", "away", None, "away"):
        domain = Domain.get_own(shop.project, shop.id)
        certificate = Certificate(None if fault else "CA", None, fault, "10.0.0.7:443")
        domain.record_certificate(certificate)
    failed = ("Certificate failed", "service", NAME)
    newest = [(*failed, "away"), (*failed, "away"), (*failed, "late")]
    assert told(shop.project)[:3] == newest
    assert '"detail":"10.0.0.7:443"' in capfd.readouterr().out


def test_newest_500_events_of_each_project_are_kept(project: Project, rival: Project):
    act(rival)
    fill(project)
    act(project, 3)
    newest, oldest = listed(project)[0].id, listed(project)[-1].id
    assert newest - oldest == KEPT - 1
    assert Event.select().where(Event.project == project).count() == KEPT
    assert len(listed(rival)) == 1
    emit_after_commit("key_revoked", project="gone", key="pet_x")
    assert Event.select().count() == KEPT + 1


def test_pages_go_from_the_newest_event_to_the_oldest_of_90_days(
    project: Project, clock: Clock
):
    act(project, 3)
    clock.move(days=90)
    act(project, 5)
    assert len(listed(project)) == 8
    clock.move(seconds=1)
    newest = pages.listed(project.id, Cursor(3))
    assert [event.id for event in newest.rows] == [8, 7, 6]
    assert (newest.total, newest.is_exact, newest.next) == (5, True, 6)
    oldest = pages.listed(project.id, Cursor(3, after=6))
    assert [event.id for event in oldest.rows] == [5, 4]
    assert oldest.next is None
    assert [event.id for event in listed(project, limit=2, is_last=True)] == [5, 4]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_ban_waits_for_no_other_event_of_the_project(
    project: Project, key: str, database_url: str
):
    fill(project)
    with psycopg.connect(database_url) as other:  # an event that does not end
        other.execute("SELECT pg_advisory_xact_lock(%s)", (project.id,))
        other.execute("UPDATE project SET rows_held = 1")
        other.execute("DELETE FROM activity WHERE id < 100")
        Key.ban(Key.find_by_prefix(key[:16]).id, 2**62)
        other.rollback()
    assert told(project)[0] == ("Key banned", key[:16], key[:16], 2**62)


def test_activity_tells_what_each_command_did(sqlite_url: str):
    environ = {"DATABASE_URL": sqlite_url}  # each in a process of its own
    assert servers.flask(environ, "demo").returncode == 0
    printed = servers.flask(environ, "activity").stdout
    assert "Key issued" in printed
    assert "None" not in printed  # of the label, which is not given
