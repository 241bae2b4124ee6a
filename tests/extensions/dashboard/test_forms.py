"""Forms: sent by this origin alone, filled in again, and done once."""

import re
from functools import partial
from pathlib import Path

import pytest
import yaml
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from petstore.extensions.dashboard.keys import change
from petstore.extensions.dashboard.models import Session
from petstore.extensions.hosting.models import Domain
from petstore.models.categories import Category
from petstore.models.grants import FULL_GRANT
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.extensions.hosting.fixtures import Own
from tests.harness.browser import SIGN_IN, Browser, add_pet, shown_choices, words
from tests.harness.databases import of_both_engines
from tests.harness.form_keys import form_key
from tests.harness.statements import recorded

FIELDS = {"name": "spot.example.org", "categoryId": "7", "label": "x", "grace": "0"}


def paths(app: Flask, key: str, method: str) -> list[str]:
    """Return a path for each rule of the dashboard, for the first row of its table."""
    own = {"prefix": key[:16], "name": "x", "file": "x", "category_id": 7}

    def path(rule: Rule) -> str:
        return rule.build({name: own.get(name, 1) for name in rule.arguments})[1]

    return [
        path(rule)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/dashboard")
        and rule.endpoint != "dashboard.static"
        and method in rule.methods
    ]


def test_no_form_of_another_origin_changes_anything(
    app: Flask, browser: Browser, client: FlaskClient, key: str, project: Project
):
    rex = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    client.post("/v1/store/orders", json={"petId": rex["id"]})
    Domain.add(project, "shop.example.org")
    forms = paths(app, key, "POST")
    assert len(forms) == 32
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost"},
        {"Sec-Fetch-Site": ""},
        {"Origin": "https://shop.localhost"},
        {"Origin": "http://localhost:8000"},
        {"Origin": "null"},
        {"Origin": ""},
    ):
        for path in forms:
            answer = browser.client.post(path, data=FIELDS, headers=headers)
            assert answer.status_code == 400, path
            assert "a page of another site" in words(answer), path
            assert "Set-Cookie" not in answer.headers, path
    assert client.get("/v1/pets").json == [rex | {"status": "pending"}]
    assert client.get("/v1/categories").json == [{"id": 7, "name": None}]
    assert [key.state for key in Key.all_by_id(project)] == ["active"]
    [domain] = Domain.all_by_name(project)
    assert domain.checked_ms is None
    assert browser.get("/dashboard").status_code == 200


def test_form_of_the_same_origin_is_accepted(browser: Browser):
    for headers in (
        {"Sec-Fetch-Site": "same-origin"},
        # As a page with another Referrer-Policy sends it.
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost"},
        {"Origin": "https://localhost"},  # behind a proxy that is not trusted
        {},
    ):
        data = {"idempotency_key": form_key(browser.cookie)}
        answer = browser.client.post("/dashboard/keys", data=data, headers=headers)
        assert "Your new key" in words(answer)


def test_reading_is_harmless(app: Flask, browser: Browser, project: Project, key: str):
    """A link, or an image of another site, does no deed."""
    Order.place(project.id, add_pet(project, "Rex"))
    with recorded() as statements:
        statuses = [browser.get(path).status_code for path in paths(app, key, "GET")]
    assert statuses.count(200) > 12
    writes = {each.gist for each in statements if not each.gist.startswith("SELECT")}
    assert {write.split()[1] for write in writes} == {"window_counter"}


ANIMALS = "/dashboard/animals"
REX = {"name": "Rex", "categoryId": "Dogs", "status": "sold"}


def test_what_was_typed_is_there_again(browser: Browser, key: str, project: Project):
    Order.place(project.id, add_pet(project, "Rex"))
    add_pet(project, "Tom")
    for path, page, fields in (
        (ANIMALS, ANIMALS, REX),
        (f"{ANIMALS}/1", f"{ANIMALS}/1", {"name": "Max", "categoryId": "Dogs"}),
        (f"{ANIMALS}/2/order", f"{ANIMALS}/2", {"reference": "Ms Lovelace"}),
        ("/dashboard/categories/7", "/dashboard/categories", {"name": "Dogs"}),
        ("/dashboard/orders/1", "/dashboard/orders/1", {"reference": "Ms Lovelace"}),
        ("/dashboard/keys", "/dashboard/keys", {"label": "Website"}),
    ):
        browser.submit("/dashboard/sign-out")
        answer = browser.submit(path, **fields)
        assert answer.location == f"{SIGN_IN}?next={page}"
        assert "the page shows what you have typed again" in words(
            browser.get(answer.location)
        )
        assert browser.submit(SIGN_IN, key=key, next=page).location == page
        shown = browser.get(page).text
        for text in fields.values():
            assert f'value="{text}"' in shown
        assert 'value="Dogs"' not in browser.get(ANIMALS).text  # it is shown once


def test_draft_is_private(browser: Browser, key: str, rival: Project):
    for each in (Key.issue(rival), key):
        browser.submit("/dashboard/sign-out")
        browser.submit(ANIMALS, **REX)
        browser.sign_in(each)
        assert 'value="Rex"' not in browser.get(ANIMALS).text


def test_text_that_no_cookie_keeps_stays_in_the_page(
    browser: Browser, visitor: Browser, key: str, client: FlaskClient
):
    long = REX | {"reference": "".join(map(chr, range(0x4E00, 0x5A00)))}
    for each, fields in ((visitor, REX), (browser, long)):
        browser.submit("/dashboard/sign-out")
        answer = each.submit(ANIMALS, **fields)
        assert answer.status_code == 401
        said = (
            "The service has done nothing, and this page has kept what you typed: Rex"
        )
        assert said in words(answer)
        fields = dict(re.findall('type="hidden" name="(.*)" value="(.*)"', answer.text))
        assert fields["name"] == "Rex"
    assert client.get("/v1/pets").json == []
    visitor.sign_in(key)
    visitor.submit(ANIMALS, **REX)
    assert len(client.get("/v1/pets").json) == 1


TOM = {"name": "Tom", "categoryId": "Dogs", "status": "available"}
FORMS = yaml.safe_load(Path(__file__).with_name("repeated.yaml").read_text())


@of_both_engines
def test_form_that_is_repeated_acts_once(browser: Browser, project: Project, key: str):
    for _ in range(2):
        add_pet(project, "Rex")
    Category.ensure(project.id, 8)
    Order.place(project.id, 1)
    Order.change(project.id, 1, status="cancelled")
    question = browser.upload("name,category\nTom,7\n").location
    for path, action, fields, said in FORMS:
        page = path.format(key=key[:16], question=question)
        form = browser.get(page).text.partition(f'action="{page}{action}"')[2]
        token = re.search('name="idempotency_key" value="([^"]+)"', form)[1]
        fields = fields | shown_choices(form)
        rows = set()
        for _ in range(2):
            answer = browser.submit(page + action, idempotency_key=token, **fields)
            rows.add((Pet.select().count(), Key.select().count()))
        assert len(rows) == 1
        assert said in browser.read(answer.location)


@of_both_engines
@pytest.mark.usefixtures("hosts")
def test_form_that_comes_again_leaves_what_was_done_since(
    app: Flask, browser: Browser, project: Project, own: Own, key: str
):
    first, second = (own(project, f"{x}.example.org") for x in "ab")
    till = Key.find_by_prefix(Key.issue(project)[:16])
    relabel = partial(change, till, FULL_GRANT, None)
    keys, domains = "/dashboard/keys", "/dashboard/settings/domains"
    for path, fields, since in (
        (f"{keys}/{till.prefix}", {"label": "Till"}, relabel),
        (f"{keys}/{till.prefix}/unban", {}, lambda: Key.ban(till.id, 2**41)),
        ("/dashboard/sessions/end-others", {}, lambda: Browser(app, key)),
        (f"{domains}/{second.id}/primary", {}, first.choose),
    ):
        form = fields | {"idempotency_key": path}
        done = browser.submit(path, **form)
        since()
        before = state_of(project)
        assert browser.submit(path, **form).location == done.location
        assert state_of(project) == before, path


def state_of(project: Project) -> list[object]:
    keys = [(each.label, each.state) for each in Key.all_by_id(project)]
    domains = [each.is_primary for each in Domain.all_by_name(project)]
    return [keys, domains, len(Session.open_by_name(project.id))]


def test_form_that_is_filled_in_anew_is_another(browser: Browser, client: FlaskClient):
    for name in ("Rex", "Tom", "Tom"):
        fields = TOM | {"name": name, "idempotency_key": "x"}
        assert f"Added {name}" in browser.follow(ANIMALS, **fields)
    assert [pet["name"] for pet in client.get("/v1/pets").json] == ["Rex", "Tom"]
