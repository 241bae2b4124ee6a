"""/dashboard/activity: what happened in the project, newest first, and who did it."""

from collections.abc import Callable

from flask import Flask
from flask.testing import FlaskClient

from petstore.events import KEPT, emit_after_commit
from petstore.models.activity import Activity
from petstore.models.domains import Certificate, Domain
from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines
from tests.harness.host_fixtures import NAME, Own

ACTIVITY = "/dashboard/activity"
SESSIONS = f"{ACTIVITY}?topic=sessions"


def act(project: Project, times: int) -> None:
    for _ in range(times):
        emit_after_commit("key_revoked", project=project.slug, key="pet_x")


@of_both_engines
def test_what_is_done_with_keys_is_listed_with_the_key_that_did_it(
    browser: Browser, project: Project, key: str
):
    other, own = Key.issue(project)[:16], key[:16]
    for deed in ("rotate", "revoke"):
        browser.submit(f"/dashboard/keys/{other}/{deed}")
    shown = browser.read(ACTIVITY)
    by = f"{own} This session 17 Mar 2027 12:00 UTC"
    revoked, rotated = f"Key revoked {other} {by}", f"Key rotated {other} {by}"
    assert revoked in shown
    assert shown.index(revoked) < shown.index("Key issued") < shown.index(rotated)
    assert f"Signed in {own} {by}" in browser.read(SESSIONS)


def test_key_of_another_session_did_what_it_did(
    app: Flask, browser: Browser, project: Project
):
    other = Key.issue(project)
    Browser(app, other)
    assert f"Signed in {other[:16]} {other[:16]} 17 Mar" in browser.read(SESSIONS)


def test_commands_are_those_of_the_operator(
    flask: Callable, browser: Browser, project: Project
):
    limits = ("--per-minute", "1000", "--per-day", "20000")
    flask("projects", "change", project.slug, "--plan", "enterprise", *limits)
    shown = browser.read(ACTIVITY)
    limits = "1,000 requests a minute, 20,000 requests a day"
    assert f"Plan changed Enterprise, {limits} The operator 17 Mar" in shown


def test_ban_that_follows_a_page_is_not_of_the_session(
    client: FlaskClient, app: Flask, project: Project, key: str, clock: Clock
):
    project.change_plan(Plan("enterprise", 1, 10))
    browser = Browser(app, Key.issue(project))  # in the thread of the requests
    while Key.by_prefix(key[:16]).banned_until_ms is None:
        client.get("/v1/pets")
        clock.move(seconds=1)
    banned = f"Key banned {key[:16]} until 17 Mar 2027 12:05 UTC {key[:16]} 17 Mar"
    assert banned in browser.read(ACTIVITY)


def test_failed_certificate_has_its_reason(
    browser: Browser, project: Project, own: Own
):
    domain: Domain = own(project, NAME)
    domain.record_certificate(
        Certificate(None, None, "It is late.", "10.0.0.7:443: late")
    )
    shown = browser.read(ACTIVITY)
    assert f"Certificate failed {NAME} It is late. It is tried again once" in shown
    assert "10.0.0.7" not in shown


def test_event_of_a_newer_version_is_shown_by_its_name(
    browser: Browser, project: Project
):
    act(project, 1)
    Activity.update(name="lions_tamed", facts="{}").execute()
    assert "lions tamed" in browser.read(ACTIVITY)


def test_pages_lead_to_older_events(browser: Browser, project: Project):
    act(project, 24)
    first = browser.get(ACTIVITY)
    assert first.text.count('<th scope="row">') == 20
    assert "25 events" in browser.read(ACTIVITY)
    second = browser.get(f"{ACTIVITY}?after=7").text
    assert second.count('<th scope="row">') == 5


def test_page_beyond_the_oldest_event_leads_back(browser: Browser):
    assert "There are no events here. Show the newest" in browser.read(
        f"{ACTIVITY}?after=1"
    )


def test_events_of_another_project_are_not_shown(
    browser: Browser, rival: Project, rival_key: Key
):
    rival_key.revoke()
    assert rival_key.prefix not in browser.read(ACTIVITY)


def test_ended_sessions_are_listed_with_their_key(
    app: Flask, browser: Browser, project: Project, key: str
):
    other = Key.issue(project)
    Browser(app, other).submit("/dashboard/sign-out")
    browser.submit("/dashboard/sessions/end-others")
    shown = browser.read(SESSIONS)
    assert f"Session ended {other[:16]} {other[:16]} 17 Mar" in shown
    assert f"All other sessions ended {key[:16]} This session 17 Mar" in shown


def test_what_is_done_with_animals_orders_and_categories_has_a_list_of_its_own(
    browser: Browser, client: FlaskClient, key: str
):
    client.post("/v1/pets", json={"name": "Tom", "categoryId": 7})
    animal = "/dashboard/animals/1"
    browser.submit(f"{animal}/order", idempotency_key="once")
    browser.submit(f"{animal}/order", idempotency_key="once")
    browser.submit("/dashboard/orders/1/complete")
    browser.submit("/dashboard/categories", name="Dogs")
    shown = browser.read(f"{ACTIVITY}?topic=shelter")
    by = f"{key[:16]} This session 17 Mar 2027 12:00 UTC"
    for said in (
        "The order 1 is placed; its animal is pending.",
        "The order 1 is completed; its animal is sold.",
        "Dogs is added, with the number 8.",
    ):
        assert f"{said} {by}" in shown
    assert "3 events" in shown
    assert "Dogs" not in browser.read(ACTIVITY)


def test_signing_in_pushes_nothing_else_out(
    browser: Browser, project: Project, key: str
):
    for _ in range(KEPT + 1):
        emit_after_commit("signed_in", by=key[:16], project=project.slug, key=key[:16])
    assert f"{KEPT} events" in browser.read(SESSIONS)
    assert "Key issued" in browser.read(ACTIVITY)


def test_key_that_may_write_does_not_see_it(app: Flask, project: Project):
    writer = Browser(app, Key.issue(project, Grant(role="write")))
    assert writer.get(ACTIVITY).status_code == 403
    assert "Activity" not in writer.read("/dashboard")
