"""What happened in the project, who did it, and which requests have failed."""

from collections.abc import Callable

from flask import Flask
from flask.testing import FlaskClient

from petstore.extensions.dashboard.models import Session
from petstore.extensions.monitoring.models import failures
from petstore.models.activity import KEPT, Event, emit_after_commit
from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.storage.database import db
from tests.harness.browser import Browser, add_pet
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

ACTIVITY = "/dashboard/activity"
SESSIONS = f"{ACTIVITY}?topic=sessions"


@of_both_engines
def test_deeds_name_their_key(app: Flask, browser: Browser, project: Project, key: str):
    other, own = Key.issue(project), key[:16]
    its = other[:16]
    Browser(app, other).submit("/dashboard/sign-out")
    Browser(app, other)
    found = Session.open_by_name(project.id).items()
    [name] = [name for name, session in found if session.prefix == its]
    browser.submit(f"/dashboard/sessions/{name}/end")
    for deed in ("rotate", "revoke"):
        browser.submit(f"/dashboard/keys/{its}/{deed}")
    browser.submit("/dashboard/sessions/end-others")
    shown, sessions = browser.read(ACTIVITY), browser.read(SESSIONS)
    by = f"{own} (you) 17 Mar 2027 12:00 UTC"
    revoked, rotated = f"Key revoked {its} {by}", f"Key rotated {its} {by}"
    assert revoked in shown
    assert shown.index(revoked) < shown.index("Key issued") < shown.index(rotated)
    assert f"Signed in {own} {by}" in sessions
    assert f"All other sessions ended {by} Session ended {its} {by}" in sessions
    for event in ("Signed in", "Session ended"):
        assert f"{event} {its} {its} 17 Mar" in sessions
    prefix = Key.issue(project, label="Front desk")[:16]
    assert "Key issued Front desk" in browser.read(ACTIVITY)
    assert f'<a href="/dashboard/keys/{prefix}">' in browser.get(ACTIVITY).text


def test_facts_are_told_in_words(
    client: FlaskClient, flask: Callable, app: Flask, key: str, clock: Clock
):
    limits = ("--per-minute", "1", "--per-day", "1000")
    flask("projects", "change", "shelter", "--plan", "enterprise", *limits)
    browser = Browser(app, Key.issue(Project.find_by_slug("shelter")))
    for _ in range(12):  # one is served, one is refused, and ten more ban the key
        client.get("/v1/pets")  # in the thread of the browser, and not by its key
        clock.move(seconds=1)
    domain = {"domain": "shop.example.org", "reason": "It is late."}
    emit_after_commit("certificate_failed", project="shelter", **domain)
    shown = browser.read(ACTIVITY)
    plan = "Business → Enterprise, 1 requests a minute, 1,000 requests a day"
    assert f"Plan changed {plan} the operator 17 Mar" in shown
    prefix = key[:16]
    assert f"Key banned {prefix} until 17 Mar 2027 12:05 UTC {prefix} 17 Mar" in shown
    assert "Certificate failed shop.example.org It is late. The service tries" in shown
    Event.update(name="lions_tamed", facts="{}").execute()
    assert "Lions tamed" in browser.read(ACTIVITY)  # as a newer version calls it


@of_both_engines
def test_changes_are_told_with_the_old_and_the_new_value(
    browser: Browser, flask: Callable, project: Project
):
    limits, origins = (10, 1_000), ("https://a.example",)
    key = Key.find_by_prefix(
        Key.issue(project, Grant(PUBLIC, *limits), label="Web")[:16]
    )
    for _ in range(2):  # the second one changes nothing
        fields = {"label": "Page", "per_minute": "5", "per_day": "1000"}
        browser.submit(f"/dashboard/keys/{key.prefix}", **fields, origins=origins[0])
    flask("projects", "change", "shelter", "--name", "Arche")
    shown = browser.read(ACTIVITY)
    changes = "Label: Web → Page Requests per minute: 10 → 5 Web pages: all → https://"
    assert f"Key changed Page {changes}a.example" in shown
    assert shown.count("Key changed") == 1
    assert "Key issued Web" in shown
    assert "Project renamed Shelter → Arche" in shown


def test_deeds_with_animals_are_listed(browser: Browser, project: Project, key: str):
    animal = f"/dashboard/animals/{add_pet(project, 'Tom')}"
    for _ in range(2):
        browser.submit(f"{animal}/order", idempotency_key="once")
    browser.submit("/dashboard/orders/1/complete")
    browser.submit("/dashboard/categories", name="Dogs")
    shown = browser.read(f"{ACTIVITY}?topic=shelter")
    by = f"{key[:16]} (you) 17 Mar 2027 12:00 UTC"
    for said in (
        "Reserved Tom (reservation 1). Reservation 1",
        "Tom is adopted (reservation 1). Reservation 1",
        "Added the category Dogs (no. 8). Category 8",
    ):
        assert f"{said} {by}" in shown
    assert "3 events" in shown
    assert "Dogs" not in browser.read(ACTIVITY)


@of_both_engines
def test_staff_see_what_was_done_with_an_animal(app: Flask, project: Project):
    staff = Key.issue(project, Grant("write"), label="Gisela")
    browser, tom = Browser(app, staff), f"/dashboard/animals/{add_pet(project, 'Tom')}"
    add_pet(project, "Tim")
    browser.submit(tom, name="Max")
    browser.submit(f"{tom}/order", reference="Ms Lovelace")
    said = browser.follow("/dashboard/orders/1/cancel", on="animal")
    _, _, history = said.partition("History What Who When")
    by = "Gisela (you) 17 Mar 2027 12:00 UTC"
    told = ("Max is available again (reservation 1).", "Reserved Max (reservation 1).")
    assert f"{told[0]} {by} {told[1]} {by} Changed the name: Tom → Max. {by}" in history
    assert "Lovelace" not in history
    assert "History" not in browser.read("/dashboard/animals/2")


def test_signing_in_pushes_nothing_else_out(browser: Browser, project: Project):
    with db.atomic():
        for _ in range(KEPT + 1):
            facts = {"project": project.slug, "key": "x"}
            emit_after_commit("signed_in", by="x", topic="sessions", **facts)
    assert f"{KEPT} events" in browser.read(SESSIONS)
    assert "Key issued" in browser.read(ACTIVITY)
    beyond = browser.read(f"{ACTIVITY}?after=1")
    assert "There are no events here. Show the newest" in beyond


REQUESTS = "/dashboard/requests"


@of_both_engines
def test_request_is_found_by_its_id(browser: Browser, client: FlaskClient, key: str):
    for number in (1, 2):
        client.get("/v1/pets/42", headers={"X-Request-ID": f"mine-{number}"})
    failures.flush()
    text = browser.read(f"{REQUESTS}?id=+mine-1+")
    for fact in (
        *(
            "1 failed request found",
            "getPet",
            "404",
            "not_found",
            "There is no animal 42.",
        ),
        *("17 Mar 2027", "12:00 UTC", key[:16], "mine-1"),
    ):
        assert fact in text
    assert "mine-2" not in text
    assert 'href="/docs#not_found"' in browser.get(f"{REQUESTS}?id=mine-1").text


def test_page_says_what_it_may_mean_that_an_id_is_not_found(browser: Browser):
    assert "No request has failed" in browser.read(REQUESTS)
    assert "The request succeeded" in browser.read(f"{REQUESTS}?id=unknown")
    for invalid in ("x" * 201, "%00"):
        assert browser.get(f"{REQUESTS}?id={invalid}").status_code == 400
