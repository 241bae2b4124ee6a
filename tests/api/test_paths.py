"""Routing: each resource has exactly one path, and no path redirects."""

import pytest
from flask.testing import FlaskClient

from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.answers import RATE_LIMIT_HEADERS, error_of


@pytest.fixture(autouse=True)
def rex(project: Project) -> None:
    """Add a pet with the id 1, which a path matched too loosely would find."""
    Pet.add(project.id, "Rex", 7, "available")


def ask(client: FlaskClient, path: str, method: str = "GET"):
    """Request exactly this path, which the test client would otherwise normalise."""
    return client.open("/", method=method, environ_overrides={"PATH_INFO": path})


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1//",
        "/v1/pets/",
        "/v1/pets//",
        "/v1//pets",
        "/v1/pets//1",
        "/v1/pets/1/",
        "/v1/pets/1//",
        "//v1/pets",
        "///v1/pets",
        "//v1/pets/1",
        "/v1/pets/1/2",
        "/v1/pets ",
        "/v1/ pets",
        "/v1/pets\x00",
        "/v1/pets\n",
        "/v1/pets;x=1",
        "/v1/Pets",
        "/v1/pets.json",
        "/v1/./pets",
        "/v1/../v1/pets",
        "/v1/p\xc3\xa9ts",
        "/v1/p\xffts",
    ],
)
def test_path_in_any_other_spelling_is_not_found(
    client: FlaskClient, method: str, path: str
):
    answer = ask(client, path, method)
    assert answer.status_code == 404
    assert "Location" not in answer.headers
    assert set(answer.headers.keys()) >= RATE_LIMIT_HEADERS
    assert method == "HEAD" or error_of(answer) == (404, "not_found")


@pytest.mark.parametrize(
    "path", ["//", "/v2", "/v2/pets", "/v1pets", "/v10/pets", "/V1/pets"]
)
def test_path_outside_v1_is_not_found(client: FlaskClient, path: str):
    answer = ask(client, path)
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")
    assert "Location" not in answer.headers


@pytest.mark.parametrize("path", ["/v1", "/v1/", "//v1/pets", "/v1/pets/", "/v1/x"])
def test_unknown_path_without_a_key_gets_401(stranger: FlaskClient, path: str):
    assert error_of(ask(stranger, path)) == (401, "missing_api_key")


@pytest.mark.parametrize(
    "pet_id", ["1 ", " 1", "+1", "-1", "01", "1.0", "1e0", "0x1", "\xd9\xa1", "1\n", ""]
)
def test_id_in_any_other_spelling_is_not_found(client: FlaskClient, pet_id: str):
    assert error_of(ask(client, f"/v1/pets/{pet_id}")) == (404, "not_found")


@pytest.mark.parametrize(
    "header",
    [
        "Script-Name",
        "X-Script-Name",
        "X-Forwarded-Prefix",
        "X-Original-URL",
        "X-Rewrite-URL",
        "Path-Info",
    ],
)
def test_no_header_changes_the_path(client: FlaskClient, header: str):
    answer = client.get("/v1/pets/2", headers={header: "/v1/pets/1"})
    assert error_of(answer) == (404, "not_found")
    assert client.get("/v1/pets", headers={header: "/x"}).status_code == 200


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method"])
def test_no_header_changes_the_method(client: FlaskClient, header: str):
    answer = client.get("/v1/pets", headers={header: "DELETE"})
    assert answer.status_code == 200
