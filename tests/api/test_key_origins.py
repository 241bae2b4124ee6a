"""Keys for web pages: pages of other origins may not use them."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.databases import of_one_engine

pytestmark = of_one_engine
SHELTER, LOCAL = "https://shelter.example", "http://localhost:3000"
PETS = "/v1/pets"
REFUSED = {
    "code": "key_not_allowed",
    "message": f"This key may only be used by pages of {SHELTER}, {LOCAL}.",
    "status": 403,
}


@pytest.fixture
def page(client_of: Callable[[str], FlaskClient], project: Project) -> FlaskClient:
    """A client with a key for the pages of two origins."""
    grant = Grant(PUBLIC, 10, 100, (SHELTER.upper() + ":443", LOCAL))
    return client_of(Key.issue(project, grant))


@pytest.mark.parametrize("origin", [SHELTER, LOCAL, f"{SHELTER.upper()}:443"])
def test_page_of_its_origins_is_served_and_may_read_the_response(
    page: FlaskClient, origin: str
):
    answer = page.get(PETS, headers={"Origin": origin})
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        f"{SHELTER}.evil.example",
        f"{SHELTER}:444",
        "http://shelter.example",
        f"{SHELTER}/",
        f"{SHELTER}, {SHELTER}",
        f"{SHELTER} {LOCAL}",
        "shelter.example",
        "null",
        "",
        "é" * 3000,
    ],
)
def test_page_of_another_origin_is_refused_and_may_read_why(
    page: FlaskClient, origin: str
):
    answer = page.get(PETS, headers={"Origin": origin.encode().decode("latin-1")})
    assert (answer.status_code, answer.json) == (403, REFUSED)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_request_without_an_origin_is_served(page: FlaskClient):
    assert page.get(PETS).status_code == 200


def test_refusal_is_counted_and_comes_before_the_path_is_looked_at(page: FlaskClient):
    elsewhere = {"Origin": "https://evil.example"}
    for path in ("/v1/nothing", f"{PETS}/1", f"{PETS}?limit=0"):
        assert page.get(path, headers=elsewhere).status_code == 403
    assert page.get(PETS).headers["X-RateLimit-Remaining"] == "6"


def test_preflight_needs_no_key_and_is_not_counted(page: FlaskClient):
    asked = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
    }
    assert page.options(PETS, headers=asked).status_code == 204
    assert page.get(PETS).headers["X-RateLimit-Remaining"] == "9"


def test_key_without_origins_is_served_to_every_page(
    client: FlaskClient, client_of: Callable[[str], FlaskClient], project: Project
):
    for each in (client, client_of(Key.issue(project, Grant(PUBLIC, 10, 100)))):
        answer = each.get(PETS, headers={"Origin": "https://evil.example"})
        assert answer.status_code == 200


class TestConfiguredOrigins:
    @pytest.fixture
    def environ(self, environ: dict[str, str]) -> dict[str, str]:
        return environ | {"PETSTORE_CORS_ORIGINS": SHELTER}

    def test_settings_hold_beside_those_of_the_key(self, page: FlaskClient):
        allowed = {
            origin: page.get(PETS, headers={"Origin": origin}).headers.get(
                "Access-Control-Allow-Origin"
            )
            for origin in (SHELTER, LOCAL)
        }
        assert allowed == {SHELTER: SHELTER, LOCAL: None}
