"""How many calls of functions a request makes: time that no other load can blur."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder

from petstore.api.last_used import last_used
from petstore.models.pets import Pet
from petstore.models.projects import Project

REX = {"name": "Rex", "categoryId": 7}
TOLERANCE = 1.1
# What each cost when it was last made faster; SQLite, PostgreSQL.
CALLS = {
    ("GET", "/v1/pets"): (608, 822),
    ("GET", "/v1/pets?limit=100"): (848, 1062),
    ("GET", "/v1/pets?status=sold"): (608, 823),
    ("GET", "/v1/pets/1"): (575, 789),
    ("POST", "/v1/pets"): (701, 906),
}


@pytest.fixture
def environ_of(key: str, project: Project) -> Callable[[str, str], dict[str, Any]]:
    """What the server hands over of a request to a project with 150 animals."""
    row = {"project": project, "name": "Rex", "category_id": 7, "status": "sold"}
    Pet.insert_many([row] * 150).execute()

    def environ_of(method: str, path: str) -> dict[str, Any]:
        body = {"json": REX} if method == "POST" else {}
        headers = {"Authorization": f"Bearer {key}"}
        return EnvironBuilder(
            path, method=method, headers=headers, **body
        ).get_environ()

    return environ_of


def calls_of(run: Callable[[], object]) -> int:
    """How many functions are called, in Python and in C."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_a_request_calls_hardly_more_functions_than_it_did(
    client: FlaskClient,
    environ_of: Callable,
    database_url: str,
    method: str,
    path: str,
):
    def ask(environ: dict[str, Any]) -> None:
        list(client.application(environ, lambda *_: None))

    for _ in range(10):  # statements are prepared, caches filled
        ask(environ_of(method, path))
    last_used.flush()
    environ = environ_of(method, path)
    calls = calls_of(lambda: ask(environ))
    budget = CALLS[method, path][database_url.startswith("postgresql")]
    assert calls <= budget * TOLERANCE
