"""Pagination with `limit`, `after` and the Link header (RFC 8288)."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, TestResponse, run_wsgi_app

from petstore.models.pets import STATUSES, Pet, PetTable
from petstore.models.projects import Project
from tests.answers import error_of

INT64_MAX = 2**63 - 1


@pytest.fixture(autouse=True)
def seven(project: Project) -> list[int]:
    """The ids of seven pets, whose statuses repeat in the order of `STATUSES`."""
    return [Pet.add(project.id, "Rex", 7, STATUSES[n % 3]).id for n in range(7)]


def ids(answer: TestResponse) -> list[int]:
    return [pet["id"] for pet in answer.json]


def next_of(answer: TestResponse) -> str | None:
    link = answer.headers.get("Link")
    return link and re.fullmatch('<([^>]*)>; rel="next"', link)[1]


def pages(client: FlaskClient, address: str | None) -> list[list[int]]:
    """Return the ids on each page, following the links from the address."""
    found = []
    while address:
        answer = client.get(address)
        found.append(ids(answer))
        address = next_of(answer)
    return found


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8, 100])
def test_next_links_visit_each_pet_once(
    client: FlaskClient, seven: list[int], limit: int
):
    expected = [seven[n : n + limit] for n in range(0, 7, limit)]
    assert pages(client, f"/v1/pets?limit={limit}") == expected


def test_next_links_keep_the_status_filter(client: FlaskClient, seven: list[int]):
    found = pages(client, "/v1/pets?limit=2&status=available")
    assert found == [[seven[0], seven[3]], [seven[6]]]


def test_the_link_is_absolute_and_keeps_every_other_parameter(client: FlaskClient):
    answer = client.get("/v1/pets?status=available&after=0&limit=2")
    address = "http://localhost/v1/pets?status=available&limit=2&after=4"
    assert answer.headers["Link"] == f'<{address}>; rel="next"'


def test_link_omits_a_limit_that_was_not_requested(
    client: FlaskClient, project: Project, seven: list[int]
):
    for _ in range(14):
        Pet.add(project.id, "Rex", 7, "sold")
    assert next_of(client.get("/v1/pets")).endswith("/v1/pets?after=20")


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ("pets.example", "pets.example"),
        ("pets.example:8443", "pets.example:8443"),
        ("[::1]:8000", "[::1]:8000"),
        ("pet_store:8000", "pet_store:8000"),
        ("xn--fiq228c.example", "xn--fiq228c.example"),
        ("xn--a.example", "xn--a.example"),
        ('x>; rel="last"', "x%3E;%20rel=%22last%22"),
    ],
)
def test_link_uses_the_host_of_the_request(app: Flask, key: str, sent: str, named: str):
    # Flask's test client parses the host itself and rejects some of these.
    headers = {"Host": sent, "Authorization": f"Bearer {key}"}
    environ = EnvironBuilder("/v1/pets?limit=1", headers=headers).get_environ()
    _, _, answered = run_wsgi_app(app, environ)
    address = f"http://{named}/v1/pets?limit=1&after=1"
    assert answered["Link"] == f'<{address}>; rel="next"'


def test_link_without_a_host_uses_the_address_of_the_server(app: Flask, key: str):
    headers = {"Authorization": f"Bearer {key}"}
    environ = EnvironBuilder("/v1/pets?limit=1", headers=headers).get_environ()
    del environ["HTTP_HOST"]
    environ |= {"SERVER_NAME": "192.0.2.1", "SERVER_PORT": "8000"}
    _, _, answered = run_wsgi_app(app, environ)
    assert answered["Link"].startswith("<http://192.0.2.1:8000/v1/pets?")


@pytest.mark.parametrize("query", ["?limit=7", "?limit=1&after=6", "?after=7", ""])
def test_the_last_page_has_no_link(client: FlaskClient, query: str):
    assert "Link" not in client.get(f"/v1/pets{query}").headers


@pytest.mark.parametrize("after", [7, 8, INT64_MAX])
def test_page_after_the_last_pet_is_empty(client: FlaskClient, after: int):
    answer = client.get(f"/v1/pets?after={after}")
    assert (answer.status_code, answer.json) == (200, [])


def test_id_of_a_deleted_pet_still_works_as_a_cursor(
    client: FlaskClient, seven: list[int]
):
    PetTable.delete_by_id(seven[2])
    assert ids(client.get(f"/v1/pets?after={seven[2]}&limit=2")) == seven[3:5]


def test_pet_with_the_largest_id_is_listed(client: FlaskClient, project: Project):
    row = {"project": project, "name": "Rex", "category_id": 7, "status": "sold"}
    PetTable.insert(id=INT64_MAX, **row).execute()
    assert pages(client, f"/v1/pets?after={INT64_MAX - 1}&limit=1") == [[INT64_MAX]]


@pytest.mark.parametrize("name", ["limit", "after"])
@pytest.mark.parametrize(
    "literal",
    [
        "",
        "x",
        "-1",
        "+5",
        "%2B5",
        "%205",
        "5%20",
        "5%0A",
        "5%00",
        "05",
        "00",
        "5.0",
        "5e0",
        "0x5",
        "5_0",
        "5,6",
        "null",
        "%D9%A5",  # ARABIC-INDIC DIGIT FIVE
        "%EF%BC%95",  # FULLWIDTH DIGIT FIVE
        "%C2%B2",  # SUPERSCRIPT TWO
        "%FF",
        "9223372036854775808",
        "18446744073709551617",
        "9" * 5000,
    ],
    ids=lambda literal: literal[:24],
)
def test_parameter_other_than_an_int64_is_refused(
    client: FlaskClient, name: str, literal: str
):
    answer = client.get(f"/v1/pets?{name}={literal}")
    assert error_of(answer) == (400, "invalid_request")
    assert answer.json["message"].startswith(f"{name}: must be an integer from ")


@pytest.mark.parametrize("limit", [0, 101, 1000, INT64_MAX])
def test_limit_outside_1_to_100_is_refused(client: FlaskClient, limit: int):
    answer = client.get(f"/v1/pets?limit={limit}")
    assert error_of(answer) == (400, "invalid_request")
    assert answer.json["message"] == "limit: must be an integer from 1 to 100"


@pytest.mark.parametrize(
    ("query", "at_fault"),
    [
        ("status=", ["status"]),
        ("status=lost", ["status"]),
        ("status=SOLD", ["status"]),
        ("status=sold%20", ["status"]),
        ("status=sold,pending", ["status"]),
        ("colour=red", ["colour"]),
        ("Limit=5", ["Limit"]),
        ("limit%00=5", ["limit\\u0000"]),
        ("limit[]=5", ["limit[]"]),
        ("limit", ["limit"]),
        ("offset=5&page=2", ["offset", "page"]),
        ("limit=5&limit=5", ["limit"]),
        ("status=sold&status=sold", ["status"]),
        ("colour=red&colour=red", ["colour"]),
        (
            "limit=0&after=x&status=lost&colour=red",
            ["after", "colour", "limit", "status"],
        ),
    ],
)
def test_invalid_unknown_and_repeated_parameters_are_named(
    client: FlaskClient, query: str, at_fault: list[str]
):
    answer = client.get(f"/v1/pets?{query}")
    assert error_of(answer) == (400, "invalid_request")
    named = [fault.split(": ")[0] for fault in answer.json["message"].split("; ")]
    assert sorted(named) == at_fault


def test_get_pet_refuses_query_parameters(client: FlaskClient):
    assert error_of(client.get("/v1/pets/1?limit=1")) == (400, "invalid_request")
