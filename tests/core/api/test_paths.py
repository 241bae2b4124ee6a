"""Routing: each resource has exactly one path, and no path redirects."""

from functools import partial

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.answers import NOT_FOUND, RATE_LIMIT_HEADERS, error_of, errors_of
from tests.harness.databases import of_one_engine

# A path that is matched too loosely finds the pet with the id 1.
pytestmark = [of_one_engine, pytest.mark.usefixtures("rex")]
# Of these, each would be found if paths were matched less strictly.
OTHER_SPELLINGS = [
    *["/v1", "/v1/", "/v1//", "/v1/pets/", "/v1/pets//", "/v1//pets", "/v1/pets//1"],
    *["/v1/pets/1/", "/v1/pets/1//", "//v1/pets", "///v1/pets", "//v1/pets/1"],
    *["/v1/pets/1/2", "/v1/pets ", "/v1/ pets", "/v1/pets\x00", "/v1/pets\n"],
    *["/v1/pets;x=1", "/v1/Pets", "/v1/pets.json", "/v1/./pets", "/v1/../v1/pets"],
    *["/v1/p\xc3\xa9ts", "/v1/p\xffts", "/v1/store", "/v1/store/orders/"],
    *["/v1//store/orders", "/v1/categories/"],
]
# The test client sends each character of an id as one byte.
OTHER_IDS = [
    *["1 ", " 1", "+1", "-1", "01", "1.0", "1e0", "0x1", "\xd9\xa1", "1\n", "1;", ""],
    *["x", "1\x00", "1/", "9223372036854775808", "1" * 400],
]
OUTSIDE = ["//", "/v2", "/v2/pets", "/v1pets", "/v10/pets", "/V1/pets"]
FILES = [
    *["/.git/HEAD", "/setup.cfg", "/petstore/__init__.py", "/petstore.db"],
    *["/static", "/static/", "/docs/static/", "/dashboard/static/"],
    *["/static/../application.py", "/docs/static/../page.py"],
    *["/static/..%2fapplication.py", "/static//etc/passwd"],
]


def send(client: FlaskClient, path: str, method: str = "GET") -> TestResponse:
    """Request exactly this path, which the test client would otherwise normalise."""
    return client.open("/", method=method, environ_overrides={"PATH_INFO": path})


def test_path_in_any_other_spelling_is_not_found(client: FlaskClient):
    found = errors_of(partial(send, client), OTHER_SPELLINGS)
    assert found == dict.fromkeys(OTHER_SPELLINGS, NOT_FOUND)
    for path in ("/v1/pets/", "//v1/pets", "/v1/pets/1/2"):
        for method in ("HEAD", "POST", "DELETE", "OPTIONS"):
            answer = send(client, path, method)
            assert answer.status_code == 404
            assert "Location" not in answer.headers
            assert set(answer.headers.keys()) >= RATE_LIMIT_HEADERS


@pytest.mark.parametrize("path", [*OUTSIDE, *FILES])
def test_path_outside_v1_and_file_is_not_found(client: FlaskClient, path: str):
    answer = send(client, path)
    assert answer.status_code == 404
    assert not (RATE_LIMIT_HEADERS | {"Location"}) & set(answer.headers.keys())


@pytest.mark.parametrize(
    ("resource", "method"),
    [("pets", "GET"), ("store/orders", "PATCH"), ("categories", "PUT")],
)
def test_id_in_any_other_spelling_is_not_found(
    client: FlaskClient, resource: str, method: str
):
    paths = [f"/v1/{resource}/{spelling}" for spelling in OTHER_IDS]
    found = errors_of(lambda path: send(client, path, method), paths)
    assert found == dict.fromkeys(paths, NOT_FOUND)


def test_no_header_changes_the_path_or_the_method(client: FlaskClient):
    for header in (
        *("Script-Name", "X-Script-Name", "X-Forwarded-Prefix", "X-Original-URL"),
        *("X-Rewrite-URL", "Path-Info", "X-HTTP-Method-Override", "X-HTTP-Method"),
    ):
        for value in ("/v1/pets/1", "DELETE"):
            answer = client.get("/v1/pets/2", headers={header: value})
            assert error_of(answer) == NOT_FOUND
