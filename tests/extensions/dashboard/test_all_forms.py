"""Every form: sent by the page of another project, twice at once, and too late.

`all_forms.yaml` has a case for each, and the tests fail for a form that has none.
"""

import io
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask
from werkzeug.test import TestResponse

from petstore.extensions.dashboard.models import Session, Upload
from petstore.extensions.hosting.models import DnsResult, Domain
from petstore.extensions.sheets.models import Import
from petstore.models.activity import Event
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from tests.harness.browser import SIGN_IN, Browser, add_pet, shown_choices, words
from tests.harness.crowds import at_once
from tests.harness.databases import of_both_engines

pytestmark = [pytest.mark.usefixtures("hosts"), of_both_engines]
CASES = yaml.safe_load(Path(__file__).with_name("all_forms.yaml").read_text())
FORMS = CASES["forms"]
# What two projects that are alike do not share.
OF_ITS_OWN = re.compile(r"pet_\w{12}|shelter-\w+|\w\d+\.example\.org|[\w-]{32}|\d+")
COLUMNS = {
    Pet: (Pet.name, Pet.category_id, Pet.status),
    Order: (Order.status, Order.reference),
    Category: (Category.id, Category.name),
    Domain: (Domain.name, Domain.is_chosen),
    Event: (Event.name, Event.facts),
    Import: (Import.added, Import.removed),
    Key: (Key.label, Key.retires_ms, Key.revoked_ms, Key.banned_until_ms),
}
Sent = tuple[str, dict[str, Any]]  # the path of a form, and its fields


class World:
    """A project with something for each form to name, and two people at work."""

    def __init__(self, app: Flask, number: int) -> None:
        self.project = Project.add(f"Shelter {number}", None, Plan("pro"))
        project_id = self.project.id
        for category_id, name in ((7, "Dogs"), (8, "Cats"), (9, "Birds")):
            Category.rename(project_id, category_id, name)
        pet, ordered, returned = (add_pet(self.project, x) for x in ("Rex", "Bo", "Di"))
        imported = add_pet(self.project, "Io")
        record = Import.record(project_id, 1, [])
        order, closed = (Order.place(project_id, x).id for x in (ordered, returned))
        Order.change(project_id, closed, status="cancelled")
        names = (f"{letter}{number}.example.org" for letter in "ab")
        domains = [Domain.add(self.project, name) for name in names]
        for domain in domains:
            domain.record(DnsResult(True, "as it should be"), by_owner=True)
        own, banned, other = (Key.issue(self.project) for _ in range(3))
        Key.ban(Key.find_by_prefix(banned[:16]).id, 2**41)
        self.colleague = Browser(app, other)
        [session] = Session.open_by_name(project_id)
        self.browser = Browser(app, own)
        question = self.browser.upload("name,category\nTom,8\n").location
        self.choices = shown_choices(self.browser.get(question).text)
        self.names = {
            "pet": pet,
            "order": order,
            "closed": closed,
            "returned": returned,
            "imported": imported,
            "import": record.id,
            "key": banned[:16],
            "own": own,
            "session": session,
            "domain": domains[1].id,
            "file": question.rpartition("/")[2],
        }

    def form(self, rule: str) -> Sent:
        """Return the form with that route, as the page of the browser sends it."""
        case = FORMS[rule]
        names = self._filled_in(case.get("names", {}))
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: names[found[1]], rule)
        fields = self._filled_in(case.get("fields", {}))
        fields |= self.choices if "<file>" in rule else {}
        key = f"{len(path)} {self.project.id} {self.project.name}"
        return path, fields | {"idempotency_key": key}

    def happen(self, deed: str) -> None:
        """Let somebody else do something; a session replaces only its own file."""
        for path, fields in CASES["deeds"][deed]:
            path = f"/dashboard/{path}".format(**self.names)
            browser = self.browser if "file" in fields else self.colleague
            answer = send(browser, (path, self._filled_in(fields)))
            assert answer.status_code in (200, 303), (deed, words(answer))

    def rows(self) -> list[str]:
        """Return what the project has, without what no other project shares."""
        rows = [
            f"{model.__name__} {row}"
            for model, columns in COLUMNS.items()
            for row in model.select(*columns)
            .where(model.project == self.project)
            .tuples()
        ]
        keys = Key.select(Key.id).where(Key.project == self.project)
        sessions = Session.select().where(Session.key.in_(keys))
        uploads = Upload.select(Upload.name).join(Session)
        rows += [
            f"Upload {row}" for row in uploads.where(Session.key.in_(keys)).tuples()
        ]
        return sorted([*rows, f"{'Session ' * sessions.count()}"])

    def _filled_in(self, texts: dict[str, str]) -> dict[str, str]:
        return {name: text.format(**self.names) for name, text in texts.items()}


def send(browser: Browser, form: Sent) -> TestResponse:
    path, fields = form
    if text := fields.get("file"):
        fields = fields | {"file": (io.BytesIO(text.encode()), "x.csv")}
    return browser.submit(path, **fields)


def outcome(answer: TestResponse, browser: Browser) -> str:
    """Return the words of the page that an answer leads to."""
    while answer.location:
        answer = browser.get(answer.location)
    assert answer.status_code < 500
    return words(answer)


def plain(rows: list[str]) -> list[str]:
    """Return the rows of a project as another one may have them."""
    return sorted(OF_ITS_OWN.sub("…", row) for row in rows)


def test_every_form_has_a_case(app: Flask):
    """But signing in: its form is of no project, and begins a session each time."""
    rules = [rule for rule in app.url_map.iter_rules() if "POST" in rule.methods]
    forms = {rule.rule for rule in rules if rule.rule.startswith("/dashboard")}
    assert forms - {SIGN_IN} == FORMS.keys()
    for rule, case in FORMS.items():
        said = str(case.get("names", {})) + str(case.get("fields", {}))
        for name, deeds in CASES["meanwhile"].items():
            if f"'{name}'" in said:
                assert {*deeds} <= case["after"].keys(), rule


def test_form_of_another_project_does_nothing(app: Flask):
    world, other = World(app, 1), World(app, 2)
    before = world.rows(), other.rows()
    for rule in FORMS:
        answer = send(other.browser, world.form(rule))
        said = "This page was Shelter 1's. You are signed in to Shelter 2 now."
        assert said in words(answer), rule
        assert (world.rows(), other.rows()) == before, rule


def test_form_that_is_sent_twice_at_once_acts_once(app: Flask):
    for number, (rule, case) in enumerate(FORMS.items()):
        once, twice = World(app, 2 * number), World(app, 2 * number + 1)
        told = outcome(send(once.browser, once.form(rule)), once.browser)
        assert case["said"] in told, rule
        form, second = twice.form(rule), Browser(app)
        second.cookie = twice.browser.cookie
        browsers = [twice.browser, second]
        answers = at_once(partial(send, form=form), browsers)
        said = [outcome(*each) for each in zip(answers, browsers, strict=True)]
        assert plain(twice.rows()) == plain(once.rows()), rule
        if "again" in case:  # a key is shown once
            assert sum(case["said"] in each for each in said) == 1, rule
            assert sum(case["again"] in each for each in said) == 1, rule
        else:
            assert said[0] == said[1], rule
            assert case["said"] in said[0], rule


def test_form_that_comes_too_late_says_so(app: Flask):
    cases = [
        (rule, deed, done, text)
        for rule, case in FORMS.items()
        for deed, told in case.get("after", {}).items()
        for done, text in told.items()
    ]
    wrong = []
    for number, (rule, deed, done, text) in enumerate(cases):
        world = World(app, number)
        form = world.form(rule)
        world.happen(deed)
        before = world.rows()
        told = outcome(send(world.browser, form), world.browser)
        is_done = world.rows() != before
        if text not in told or is_done != (done == "done"):
            wrong.append((rule, deed, is_done, told))
    assert not wrong
