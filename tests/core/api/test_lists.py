"""Every list: order, `limit`, `after`, filters and the Link header (RFC 8288)."""

import re
from collections.abc import Iterable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, TestResponse, run_wsgi_app

from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.answers import INVALID, errors_of
from tests.harness.databases import of_one_engine

INT64_MAX = 2**63 - 1
RULES = {
    "limit": "limit: must be an integer from 1 to 100",
    "after": f"after: must be an integer from 0 to {INT64_MAX}",
    "categoryId": f"categoryId: must be an integer from 0 to {INT64_MAX}",
}
NO_INTEGERS = [
    *["", "x", "-1", "+5", "%2B5", "%205", "5%20", "5%0A", "5%00", "05", "00"],
    *["5.0", "5e0", "0x5", "5_0", "5,6", "null"],
    *["%D9%A5", "%EF%BC%95", "%C2%B2"],  # digits of other scripts, SUPERSCRIPT TWO
    *["9223372036854775808", "18446744073709551617", "9" * 5000],
]


PETS, ORDERS, CATEGORIES = "/v1/pets", "/v1/store/orders", "/v1/categories"
every_list = pytest.mark.parametrize("path", [PETS, ORDERS, CATEGORIES])


def add(project: Project, path: str, ids: Iterable[int], status: str = "") -> None:
    """Add rows with these ids to a list, against the rules of orders."""
    status = status or ("placed" if path == ORDERS else "sold")
    for each in ids:
        row = {"project": project, "id": each, "status": status}
        if path == PETS:
            Pet.create(**row, name="Rex", category_id=7)
        elif path == ORDERS:
            Order.create(**row, pet_id=1, created_ms=0, updated_ms=0)
        else:
            Category.ensure(project.id, each)


def ids(answer: TestResponse) -> list[int]:
    assert answer.status_code == 200
    return [row["id"] for row in answer.json]


def pages(client: FlaskClient, address: str | None) -> list[list[int]]:
    """Return the ids on each page, following the links from the address."""
    found = []
    while address:
        answer = client.get(address)
        found.append(ids(answer))
        link = re.fullmatch('<([^>]*)>; rel="next"', answer.headers.get("Link", ""))
        assert bool(link) == ("Link" in answer.headers)
        address = link and link[1]
    return found


@every_list
def test_limit_defaults_to_20(client: FlaskClient, project: Project, path: str):
    empty = client.get(path)
    assert (empty.json, empty.content_type) == ([], "application/json")
    add(project, path, range(1, 102))
    for query, length in ("", 20), ("?limit=1", 1), ("?limit=100", 100):
        assert ids(client.get(f"{path}{query}")) == [*range(1, length + 1)]
    for limit in (0, 101, INT64_MAX):
        assert client.get(f"{path}?limit={limit}").status_code == 400


@every_list
def test_next_links_visit_each_row_of_the_project_once_after_any_id(
    client: FlaskClient, project: Project, rival: Project, path: str
):
    present = [1, 2, 5, 2**53 + 1, INT64_MAX - 1, INT64_MAX]
    add(project, path, present)
    add(rival, path, [3, 4, 2**53])
    for limit in (1, 2, 5, 6, 7):
        for begin, after in enumerate([0, 1, 4, 5, 2**53 + 1, INT64_MAX - 1]):
            rest = present[begin:]
            expected = [rest[n : n + limit] for n in range(0, len(rest), limit)]
            assert pages(client, f"{path}?limit={limit}&after={after}") == expected
    assert pages(client, f"{path}?after={INT64_MAX}") == [[]]


@of_one_engine
def test_the_link_is_absolute_and_keeps_every_other_parameter(
    client: FlaskClient, project: Project
):
    add(project, PETS, range(1, 22))
    both = "categoryId=7&limit=2&status=sold"
    queries = {f"{both}&after=0": f"{both}&after=2", both: f"{both}&after=2"}
    for query, following in (queries | {"": "after=20"}).items():
        link = client.get(f"/v1/pets?{query}").headers["Link"]
        assert link == f'<http://localhost/v1/pets?{following}>; rel="next"'


@of_one_engine
@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ("[::1]:8000", "[::1]:8000"),
        ("pet_store:8000", "pet_store:8000"),
        ('x>; rel="last"', "x%3E;%20rel=%22last%22"),
        (None, "192.0.2.1:8000"),
    ],
)
def test_link_uses_the_host_of_the_request(
    app: Flask, key: str, project: Project, sent: str | None, named: str
):
    add(project, PETS, [1, 2])
    # Flask's test client parses the host itself and rejects some of these.
    headers = {"Authorization": f"Bearer {key}"} | ({"Host": sent} if sent else {})
    environ = EnvironBuilder("/v1/pets?limit=1", headers=headers).get_environ()
    if not sent:  # in HTTP/1.0
        del environ["HTTP_HOST"]
        environ |= {"SERVER_NAME": "192.0.2.1", "SERVER_PORT": "8000"}
    _, _, answered = run_wsgi_app(app, environ)
    address = f"http://{named}/v1/pets?limit=1&after=1"
    assert answered["Link"] == f'<{address}>; rel="next"'


@of_one_engine
@pytest.mark.parametrize("name", RULES)
def test_parameter_other_than_an_int64_is_refused(client: FlaskClient, name: str):
    def send(literal: str) -> TestResponse:
        answer = client.get(f"/v1/pets?{name}={literal}")
        assert answer.json["message"] == RULES[name]
        return answer

    assert errors_of(send, NO_INTEGERS) == dict.fromkeys(NO_INTEGERS, INVALID)


QUERIES_AT_FAULT = {
    "status=": {"status"},
    "status=SOLD": {"status"},
    "Limit=5": {"Limit"},
    "limit%00=5": {"limit\\u0000"},
    "limit[]=5": {"limit[]"},
    "limit": {"limit"},
    "limit=%FF": {"query"},
    "status=sold&status=sold": {"status"},
    "colour=red&colour=red": {"colour"},
    "limit=0&after=x&status=lost&q": {"after", "q", "limit", "status"},
    "limit=5&limit=5&after=x&q": {"after", "q", "limit"},
}


@of_one_engine
@every_list
def test_invalid_unknown_and_repeated_parameters_are_named(
    client: FlaskClient, path: str
):
    named = {}
    for query in QUERIES_AT_FAULT:
        answer = client.get(f"{path}?{query}")
        assert answer.status_code == 400
        faults = answer.json["message"].split("; ")
        named[query] = {fault.split(": ")[0] for fault in faults}
    assert named == QUERIES_AT_FAULT
