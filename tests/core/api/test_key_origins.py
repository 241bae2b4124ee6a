"""Keys for web pages: pages of other origins may not use them."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.clients import PETS
from tests.harness.databases import of_one_engine

pytestmark = of_one_engine
SHELTER, LOCAL = "https://shelter.example", "http://localhost:3000"
EVIL = {"Origin": "https://evil.example"}
REFUSED = {
    "code": "key_not_allowed",
    "message": f"This key may only be used by pages of {SHELTER}, {LOCAL}.",
    "status": 403,
}
OTHERS = [
    *("https://evil.example", f"{SHELTER}.evil.example", f"{SHELTER}:444", "null"),
    *("http://shelter.example", f"{SHELTER}/", f"{SHELTER}, {SHELTER}", "", "é" * 3000),
    *(f"{SHELTER} {LOCAL}", "shelter.example"),
]


@pytest.fixture
def page(client_of: Callable[[str], FlaskClient], project: Project) -> FlaskClient:
    """A client with a key for the pages of two origins."""
    grant = Grant(PUBLIC, 100, 1000, (SHELTER.upper() + ":443", LOCAL))
    return client_of(Key.issue(project, grant))


def test_pages_of_its_origins_are_served_and_those_of_others_may_read_why_not(
    page: FlaskClient,
):
    for origin in (SHELTER, LOCAL, f"{SHELTER.upper()}:443"):
        answer = page.get(PETS, headers={"Origin": origin})
        assert answer.status_code == 200
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
    for origin in OTHERS:
        answer = page.get(PETS, headers={"Origin": origin.encode().decode("latin-1")})
        assert (answer.status_code, answer.json) == (403, REFUSED)
        assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_refusal_is_counted_and_comes_before_the_path_is_looked_at(page: FlaskClient):
    for path in ("/v1/nothing", f"{PETS}/1", f"{PETS}?limit=0"):
        assert page.get(path, headers=EVIL).status_code == 403
    without_origin = page.get(PETS)
    assert without_origin.status_code == 200
    assert without_origin.headers["X-RateLimit-Remaining"] == "96"


def test_key_without_origins_is_served_to_every_page(
    client: FlaskClient, client_of: Callable[[str], FlaskClient], project: Project
):
    for each in (client, client_of(Key.issue(project, Grant(PUBLIC, 10, 100)))):
        assert each.get(PETS, headers=EVIL).status_code == 200
