"""Forms of the dashboard are refused unless the same origin sends them."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.orders import Order
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


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost"},
        {"Sec-Fetch-Site": ""},
        {"Origin": "https://shop.localhost"},
        {"Origin": "http://localhost:8000"},
        {"Origin": "null"},
        {"Origin": ""},
    ],
)
def test_no_form_of_another_origin_changes_anything(
    app: Flask,
    browser: Browser,
    client: FlaskClient,
    key: str,
    project: Project,
    headers: dict[str, str],
):
    rex = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    client.post("/v1/store/orders", json={"petId": rex["id"]})
    Domain.add(project, "shop.example.org")
    paths = forms(app, key)
    assert len(paths) == 26
    for path in paths:
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


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin"},
        # As a page with another Referrer-Policy sends it.
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost"},
        {"Origin": "https://localhost"},  # behind a proxy that is not trusted
        {},
    ],
)
def test_form_of_the_same_origin_is_accepted(browser: Browser, headers: dict[str, str]):
    answer = browser.client.post(KEYS, headers=headers)
    assert "Your new key" in words(answer)


def test_opening_a_page_changes_nothing(
    app: Flask, browser: Browser, project: Project, key: str
):
    """A link, or an image of another site, does no deed."""
    order = Order.place(project.id, add_pet(project, "Rex"))
    own = {"pet_id": order.pet_id, "order_id": order.id, "prefix": key[:16]}
    own |= {"category_id": 7, "domain_id": 1, "file": "x"}
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
