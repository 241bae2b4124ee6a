"""The secret that signs sessions: SECRET_KEY, or one that is generated once."""

import pytest
from flask import Flask
from flask.sessions import SecureCookieSessionInterface

from petstore.models.callers import Caller
from petstore.models.sessions import Secret, Session
from petstore.settings import read_settings
from tests import statements
from tests.dashboard.browser import Browser


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
    cookie = signing.dumps({"token": token})
    browser.client.set_cookie("petstore_session", cookie, path="/dashboard")
    return browser.get("/dashboard").status_code


@pytest.fixture
def token(key: str) -> str:
    """The token of an active session."""
    return Session.begin(Caller.of(key))


def test_cookie_signed_with_the_secret_is_accepted(
    visitor: Browser, token: str, chosen: str | None
):
    secret = chosen or Secret.shared("sessions")
    assert forged(visitor, secret, token) == 200


@pytest.mark.parametrize("wrong", ["guessed", "None"])
def test_cookie_signed_with_another_secret_is_refused(
    visitor: Browser, token: str, wrong: str
):
    assert forged(visitor, wrong, token) == 303


@pytest.mark.usefixtures("token")
def test_secret_and_stored_digest_do_not_forge_a_session(
    visitor: Browser, key: str, chosen: str | None
):
    secret = chosen or Secret.shared("sessions")
    [session] = Session.select()
    for known in (session.digest, key[:16], ""):
        assert forged(visitor, secret, known) == 303


def test_secret_is_generated_once(app: Flask, chosen: str | None):
    made = Secret.shared("sessions")
    assert Secret.shared("sessions") == made
    assert len(made) > 40


def test_existing_secret_is_read_without_writing(app: Flask, chosen: str | None):
    Secret.shared("sessions")
    with statements.recorded() as seen:
        Secret.shared("sessions")
    assert {statement.gist for statement in seen} == {"SELECT secret"}


def test_secret_is_generated_only_if_none_is_set(visitor: Browser, chosen: str | None):
    visitor.get("/dashboard/sign-in")
    assert Secret.select().count() == (0 if chosen else 1)


def test_repr_of_settings_omits_the_secret(environ: dict[str, str], chosen: str | None):
    assert "chosen" not in repr(read_settings(environ))
