"""Forms of the dashboard require the CSRF token of their session."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.dashboard.browser import TOKEN, Browser, words

FORMS = ("/keys", "/keys/{}/rotate", "/keys/{}/revoke", "/keys/{}/unban", "/sign-out")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fields", [{}, {"csrf_token": ""}, {"csrf_token": "x.y.z"}])
def test_form_without_a_valid_token_is_refused(
    browser: Browser, key: str, project: Project, form: str, fields: dict[str, str]
):
    answer = browser.post(f"/dashboard{form.format(key[:16])}", **fields)
    assert answer.status_code == 400
    assert "out of date" in words(answer)
    assert [key.state for key in Key.all_by_id(project)] == ["active"]
    assert browser.get("/dashboard").status_code == 200


def test_sign_in_requires_a_token(visitor: Browser, key: str):
    assert visitor.post("/dashboard/sign-in", key=key).status_code == 400


def test_the_token_of_another_session_is_refused(
    app: Flask, browser: Browser, project: Project
):
    other = Browser(app)
    other.sign_in(Key.issue(project))
    token = TOKEN.search(other.get("/dashboard/keys").text)[1]
    assert browser.post("/dashboard/keys", csrf_token=token).status_code == 400


def test_a_form_sent_twice_issues_one_key(browser: Browser, project: Project):
    token = TOKEN.search(browser.get("/dashboard/keys").text)[1]
    answers = [browser.post("/dashboard/keys", csrf_token=token) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert len(Key.all_by_id(project)) == 2


def test_api_requires_no_token(client: FlaskClient):
    answer = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    assert answer.status_code == 201
