"""What belongs to another project looks like what is missing, to every operation."""

import pytest
from flask.testing import FlaskClient

from tests.harness.answers import INVALID, NOT_FOUND, error_of, seen
from tests.harness.clients import ORDERS, PETS

MIA = {"name": "Mia", "categoryId": 9}
LISTS = (PETS, ORDERS, "/v1/categories")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"{PETS}/1", None),
        ("PATCH", f"{PETS}/1", MIA),
        ("DELETE", f"{PETS}/1", None),
        ("POST", ORDERS, {"petId": 1}),
        ("GET", f"{ORDERS}/1", None),
        ("PATCH", f"{ORDERS}/1", {"status": "completed"}),
        ("PATCH", f"{ORDERS}/1", {"reference": None}),
        ("DELETE", f"{ORDERS}/1", None),
        ("DELETE", "/v1/categories/8", None),
    ],
)
def test_what_another_project_has_looks_like_what_is_missing(
    client: FlaskClient,
    rival_client: FlaskClient,
    order: dict,
    method: str,
    path: str,
    body: dict | None,
):
    if method == "DELETE":  # what could be deleted by its owner
        client.patch(f"{ORDERS}/1", json={"status": "cancelled"})
        client.put("/v1/categories/8", json={"name": "Cats"})
    before = [client.get(each).json for each in LISTS]
    foreign = rival_client.open(path, method=method, json=body)
    if body == {"petId": 1}:
        missing = rival_client.post(path, json={"petId": 2})
        assert error_of(foreign) == INVALID
    else:
        missing = rival_client.open(f"{path[:-1]}2", method=method, json=body)
        assert error_of(foreign) == NOT_FOUND
    assert seen(foreign) == seen(missing)
    assert [client.get(each).json for each in LISTS] == before
    assert [rival_client.get(each).json for each in LISTS] == [[], [], []]
