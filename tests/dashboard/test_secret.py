"""The secret that signs sessions: SECRET_KEY, or one that is generated once."""

import re

import pytest
from flask import Flask
from flask.sessions import SecureCookieSessionInterface

from petstore.models.callers import Caller
from petstore.models.secrets import Secret
from petstore.models.sessions import Session
from petstore.storage import db
from tests.harness import statements
from tests.harness.browser import Browser
from tests.harness.databases import of_both_engines
from tests.harness.servers import ROOT


@pytest.fixture(params=[None, "chosen by the operator"])
def chosen(request: pytest.FixtureRequest) -> str | None:
    return request.param


@pytest.fixture
def environ(environ: dict[str, str], chosen: str | None) -> dict[str, str]:
    return environ | ({"SECRET_KEY": chosen} if chosen else {})


def forged(browser: Browser, secret: str, token: str) -> int:
    """Return the status for a cookie with the token, signed with the secret."""
    signer = Flask("forger")
    signer.secret_key = secret
    signing = SecureCookieSessionInterface().get_signing_serializer(signer)
    browser.cookie = signing.dumps({"token": token})
    return browser.get("/dashboard").status_code


@pytest.fixture
def token(key: str) -> str:
    """The token of an active session."""
    return Session.begin(Caller.of(key))


def test_only_the_secret_and_a_token_make_a_session(
    visitor: Browser, key: str, token: str, chosen: str | None
):
    secret = chosen or Secret.shared("sessions")
    [session] = Session.select()
    assert forged(visitor, secret, token) == 200
    for wrong in ("guessed", "None"):
        assert forged(visitor, wrong, token) == 303
    for known in (session.digest, key[:16], ""):
        assert forged(visitor, secret, known) == 303


@of_both_engines
@pytest.mark.parametrize("chosen", [None], indirect=True)
def test_secret_is_generated_once_and_then_read_without_writing(app: Flask):
    made = Secret.shared("sessions")
    assert len(made) > 40
    with statements.recorded() as seen:
        assert Secret.shared("sessions") == made
    assert {statement.gist for statement in seen} == {"SELECT secret"}


@of_both_engines
@pytest.mark.parametrize("chosen", [None], indirect=True)
def test_secret_is_another_once_it_is_deleted_as_documented(app: Flask):
    before = Secret.shared("sessions")
    page = (ROOT / "SECURITY.md").read_text()
    [statement] = re.findall("`(DELETE FROM secret [^`]+)`", page)
    db.execute_sql(statement)
    assert Secret.shared("sessions") != before


def test_secret_is_generated_only_if_none_is_set(visitor: Browser, chosen: str | None):
    visitor.get("/dashboard/sign-in")
    assert Secret.select().count() == (0 if chosen else 1)
