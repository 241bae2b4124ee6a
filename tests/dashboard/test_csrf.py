"""Forms of the dashboard require the CSRF token of their session."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet, words
from tests.harness.statements import recorded

KEYS = "/dashboard/keys"
FIELDS = {"name": "spot.example.org", "categoryId": "7", "label": "x", "grace": "0"}


def forms(app: Flask, key: str) -> set[str]:
    """Return the path of every form, for the first row of its table."""
    rules = [rule for rule in app.url_map.iter_rules() if "POST" in rule.methods]
    return {
        "/".join(
            {"<prefix>": key[:16]}.get(part, "1" if part.startswith("<id:") else part)
            for part in rule.rule.split("/")
        )
        for rule in rules
        if rule.rule.startswith("/dashboard")
    }


@pytest.mark.parametrize("fields", [{}, {"csrf_token": ""}, {"csrf_token": "x.y.z"}])
def test_no_form_changes_anything_without_a_valid_token(
    app: Flask,
    browser: Browser,
    client: FlaskClient,
    key: str,
    project: Project,
    fields: dict[str, str],
):
    rex = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    client.post("/v1/store/orders", json={"petId": rex["id"]})
    Domain.add(project, "shop.example.org")
    paths = forms(app, key)
    assert len(paths) == 21
    for path in paths:
        answer = browser.post(path, **FIELDS, **fields)
        assert answer.status_code == 400, path
        assert "out of date" in words(answer), path
    assert client.get("/v1/pets").json == [rex | {"status": "pending"}]
    assert client.get("/v1/categories").json == [{"id": 7, "name": None}]
    assert [key.state for key in Key.all_by_id(project)] == ["active"]
    [domain] = Domain.page(project)
    assert domain.checked_ms is None
    assert browser.get("/dashboard").status_code == 200


def test_the_token_of_another_session_is_refused(
    app: Flask, browser: Browser, project: Project
):
    token = Browser(app, Key.issue(project)).token(KEYS)
    assert browser.post(KEYS, csrf_token=token).status_code == 400


def test_a_form_sent_twice_issues_one_key(browser: Browser, project: Project):
    token = browser.token(KEYS)
    answers = [browser.post(KEYS, csrf_token=token) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert len(Key.all_by_id(project)) == 2


def test_opening_a_page_changes_nothing(
    app: Flask, browser: Browser, project: Project, key: str
):
    """A link, or an image of another site, does no deed."""
    pet = add_pet(project, "Rex")
    own = {"pet_id": pet, "prefix": key[:16], "category_id": 7, "domain_id": 1}
    pages = [
        rule.build({name: own[name] for name in rule.arguments})[1]
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/dashboard")
        and rule.endpoint != "dashboard.static"
        and "GET" in rule.methods
    ]
    assert len(pages) > 12
    with recorded() as statements:
        statuses = [browser.get(page).status_code for page in pages]
    assert statuses.count(200) > 12
    writes = {each.gist for each in statements if not each.gist.startswith("SELECT")}
    assert writes == {"INSERT counter"}
