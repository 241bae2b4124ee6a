"""Valid and invalid values of names and integers in request bodies."""

import json

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore.models.projects import Project
from tests.harness.answers import INVALID, errors_of
from tests.harness.browser import add_pet
from tests.harness.clients import PETS
from tests.harness.databases import of_one_engine

CATEGORIES = "/v1/categories"
INT64_MAX = 2**63 - 1
NOTATIONS = {
    0: ["0", "-0", "0.0", "-0.0", "0e999999"],
    5: ["5.0", "5.000000000000000000000000000000000000", "50e-1", "0.5e1"],
    100: ["1e2", "1E+2"],
    2**53 + 1: ["9007199254740993", "9007199254740993.0"],
    INT64_MAX: ["9223372036854775807", "9223372036854775807.0"],
}
NO_INTEGERS = [
    *["-1", "-1.0", "5.5", "1e-1", "1e-400", "1e-999999999", "1E-1000000000000000000"],
    *["5.0000000000000000000000000000000000001", "9223372036854775808.0"],
    *["9223372036854775807.0000000000000000000000001", "9223372036854775808"],
    *["1e19", "1e300", "1e400", "1E1000000000", "1E1000000000000000000"],
    *["1" * 5000, "-" + "1" * 5000, "0." + "1" * 60_000],
    *["true", "false", "null", '"7"', '""', "[7]", "{}"],
    *["+7", "07", "7.", ".7", "0x7", "7_0", "٧"],
]
NAMES = [
    *["x", " Rex ", "x" * 200, "🐕" * 200, "null", "\u0301", "e\u0301 is not \u00e9"],
    *["O'Brien; DROP TABLE pet; --", "%s %(name)s {name} $1 ? :name \\"],
    *['<script>alert("x")</script>', "\u202eRTL\u202c", "\u3164x"],
    *["\ufffe\uffff", "\U0010ffff", "\u00a0x\u2028x\u2029x", "👩‍👩‍👧‍👦"],
]
NO_NAMES = [
    *["", " ", "\u00a0\u2003\u2028\u3000", "x" * 201, "🐕" * 201, "\x00", "Rex\x00"],
    *["\u200b", "\ufeff", "\u115f\u1160", "\u2800 \uffa0", "\u3164", "\xad\U000e0041"],
    *["Rex\n", "\nRex", "a\tb", "a\nb", "a\rb", "\x1b[31mRex", "\x7f", "\x85", "\x9f"],
    *[True, 7, 7.5, ["Rex"], {"name": "Rex"}],
]


def with_category(client: FlaskClient, literal: str) -> TestResponse:
    body = f'{{"name": "Rex", "categoryId": {literal}}}'
    return client.post(PETS, data=body, content_type="application/json")


def test_integer_is_accepted_in_any_json_notation(client: FlaskClient):
    for integer, notations in NOTATIONS.items():
        for literal in notations:
            pet = with_category(client, literal).json
            assert pet["categoryId"] == integer, literal
            assert client.get(f"{PETS}/{pet['id']}").json == pet


@of_one_engine
def test_value_other_than_a_non_negative_int64_is_refused(client: FlaskClient):
    found = errors_of(lambda literal: with_category(client, literal), NO_INTEGERS)
    assert found == dict.fromkeys(NO_INTEGERS, INVALID)
    assert client.get(PETS).json == []


def test_names_are_kept_exactly_as_sent(client: FlaskClient):
    for category_id, name in enumerate(NAMES):
        client.post(PETS, json={"name": name, "categoryId": 99})
        client.put(f"{CATEGORIES}/{category_id}", json={"name": name})
    assert [pet["name"] for pet in client.get(PETS).json] == NAMES
    assert [row["name"] for row in client.get(CATEGORIES).json] == [*NAMES, None]


@of_one_engine
def test_invalid_name_is_refused(client: FlaskClient):
    names = [json.dumps(name) for name in NO_NAMES]

    def send(name: str) -> TestResponse:
        answer = client.post(PETS, json={"name": json.loads(name), "categoryId": 7})
        assert answer.json["message"].startswith("name: must ")
        return answer

    assert errors_of(send, names) == dict.fromkeys(names, INVALID)
    assert client.put(f"{CATEGORIES}/7", json={"name": "\n"}).status_code == 400
    assert client.get(CATEGORIES).json == []


@pytest.mark.parametrize(
    ("method", "path", "members"),
    [
        ("PATCH", f"{PETS}/1", {"name": "\u3164"}),
        ("PUT", f"{CATEGORIES}/7", {"name": "\u200b\xad"}),
        ("POST", "/v1/store/orders", {"petId": 1, "reference": "\u2800"}),
    ],
)
def test_nobody_is_named_what_nobody_sees(
    client: FlaskClient, project: Project, method: str, path: str, members: dict
):
    add_pet(project, "\ufeff")  # as a release before this one
    answer = client.open(path, method=method, json=members)
    assert (answer.status_code, "that can be seen" in answer.text) == (400, True)
    assert [pet["name"] for pet in client.get(PETS).json] == ["\ufeff"]
