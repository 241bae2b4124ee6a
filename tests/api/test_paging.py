"""Pages of a list: `limit`, `after` and the Link to the next (RFC 8288)."""

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
    """The ids of seven animals, each available, pending or sold in turn."""
    return [Pet.add(project.id, "Rex", 7, STATUSES[n % 3]).id for n in range(7)]


def ids(answer: TestResponse) -> list[int]:
    return [pet["id"] for pet in answer.json]


def next_of(answer: TestResponse) -> str | None:
    link = answer.headers.get("Link")
    return link and re.fullmatch('<([^>]*)>; rel="next"', link)[1]


def pages(client: FlaskClient, address: str | None) -> list[list[int]]:
    """The ids of each page, from the address on to the last."""
    found = []
    while address:
        answer = client.get(address)
        found.append(ids(answer))
        address = next_of(answer)
    return found


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8, 100])
def test_whoever_follows_the_links_sees_every_animal_once(
    client: FlaskClient, seven: list[int], limit: int
):
    expected = [seven[n : n + limit] for n in range(0, 7, limit)]
    assert pages(client, f"/v1/pets?limit={limit}") == expected


def test_the_links_keep_to_the_status(client: FlaskClient, seven: list[int]):
    found = pages(client, "/v1/pets?limit=2&status=available")
    assert found == [[seven[0], seven[3]], [seven[6]]]


def test_the_link_is_absolute_and_keeps_every_other_parameter(client: FlaskClient):
    answer = client.get("/v1/pets?status=available&after=0&limit=2")
    address = "http://localhost/v1/pets?status=available&limit=2&after=4"
    assert answer.headers["Link"] == f'<{address}>; rel="next"'


def test_the_link_names_no_limit_that_was_not_asked_for(
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
def test_the_link_stays_on_the_host_that_was_asked(
    app: Flask, key: str, sent: str, named: str
):
    # Flask's client reads the host too, and not all of these.
    headers = {"Host": sent, "Authorization": f"Bearer {key}"}
    environ = EnvironBuilder("/v1/pets?limit=1", headers=headers).get_environ()
    _, _, answered = run_wsgi_app(app, environ)
    address = f"http://{named}/v1/pets?limit=1&after=1"
    assert answered["Link"] == f'<{address}>; rel="next"'


@pytest.mark.parametrize("query", ["?limit=7", "?limit=1&after=6", "?after=7", ""])
def test_the_last_page_has_no_link(client: FlaskClient, query: str):
    assert "Link" not in client.get(f"/v1/pets{query}").headers


@pytest.mark.parametrize("after", [7, 8, INT64_MAX])
def test_beyond_the_last_animal_there_is_nothing(client: FlaskClient, after: int):
    answer = client.get(f"/v1/pets?after={after}")
    assert (answer.status_code, answer.json) == (200, [])


def test_an_animal_that_is_gone_still_marks_its_place(
    client: FlaskClient, seven: list[int]
):
    PetTable.delete_by_id(seven[2])
    assert ids(client.get(f"/v1/pets?after={seven[2]}&limit=2")) == seven[3:5]


def test_the_last_id_of_all_can_be_reached(client: FlaskClient, project: Project):
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
def test_what_is_no_int64_is_an_invalid_parameter(
    client: FlaskClient, name: str, literal: str
):
    answer = client.get(f"/v1/pets?{name}={literal}")
    assert error_of(answer) == (400, "invalid_request")
    assert answer.json["message"].startswith(f"{name}: must be an integer from ")


@pytest.mark.parametrize("limit", [0, 101, 1000, INT64_MAX])
def test_a_limit_is_from_1_to_100(client: FlaskClient, limit: int):
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
def test_each_parameter_that_is_wrong_unknown_or_repeated_is_named(
    client: FlaskClient, query: str, at_fault: list[str]
):
    answer = client.get(f"/v1/pets?{query}")
    assert error_of(answer) == (400, "invalid_request")
    named = [fault.split(": ")[0] for fault in answer.json["message"].split("; ")]
    assert sorted(named) == at_fault


def test_get_pet_takes_no_parameters(client: FlaskClient):
    assert error_of(client.get("/v1/pets/1?limit=1")) == (400, "invalid_request")
