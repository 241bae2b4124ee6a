"""Valid and invalid values of names and integers in request bodies."""

import pytest
from flask.testing import FlaskClient

from petstore.models.pets import PetTable
from tests.answers import error_of

INT64_MAX = 2**63 - 1


def with_category(client: FlaskClient, literal: str):
    body = f'{{"name": "Rex", "categoryId": {literal}}}'
    return client.post("/v1/pets", data=body, content_type="application/json")


@pytest.mark.parametrize(
    ("literal", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("0.0", 0),
        ("-0.0", 0),
        ("0e999999", 0),
        ("5.0", 5),
        ("5.000000000000000000000000000000000000", 5),
        ("1e2", 100),
        ("1E+2", 100),
        ("50e-1", 5),
        ("0.5e1", 5),
        ("9007199254740993", 2**53 + 1),
        ("9007199254740993.0", 2**53 + 1),
        ("9223372036854775807", INT64_MAX),
        ("9223372036854775807.0", INT64_MAX),
        ("9.223372036854775807e18", INT64_MAX),
    ],
)
def test_integer_is_accepted_in_any_json_notation(
    client: FlaskClient, literal: str, number: int
):
    assert with_category(client, literal).json["categoryId"] == number
    assert PetTable.get().category_id == number


@pytest.mark.parametrize(
    "literal",
    [
        "-1",
        "-1.0",
        "5.5",
        "1e-1",
        "1e-400",
        "1e-999999999",
        "1E-1000000000000000000",
        "5.0000000000000000000000000000000000001",
        "9223372036854775806.9999999999999999999999999999",
        "9223372036854775807.0000000000000000000000001",
        "9223372036854775808",
        "9223372036854775808.0",
        "18446744073709551616",
        "1e19",
        "1e300",
        "1e400",
        "1E1000000000",
        "1E1000000000000000000",
        "1" * 5000,
        "-" + "1" * 5000,
        "0." + "1" * 60_000,
        "true",
        "false",
        "null",
        '"7"',
        '""',
        "[7]",
        "{}",
        "+7",
        "07",
        "7.",
        ".7",
        "0x7",
        "7_0",
        "٧",
    ],
    ids=lambda literal: literal[:40],
)
def test_value_other_than_a_non_negative_int64_is_refused(
    client: FlaskClient, literal: str
):
    assert error_of(with_category(client, literal)) == (400, "invalid_request")
    assert not PetTable.select().exists()


@pytest.mark.parametrize(
    "name",
    [
        "x",
        " Rex ",
        "x" * 200,
        "🐕" * 200,
        "O'Brien; DROP TABLE pet; --",
        "%s %(name)s {name} $1 ? :name \\",
        '<script>alert("x")</script>',
        "null",
        "́",
        "e\u0301 is not \u00e9",
        "\u202eRTL\u202c",
        "\u200b",
        "\ufeff",
        "\ufffe\uffff",
        "\U0010ffff",
        "\u00a0x\u2028x\u2029x",
        "👩‍👩‍👧‍👦",
    ],
    ids=ascii,
)
def test_a_name_is_kept_exactly_as_sent(client: FlaskClient, name: str):
    created = client.post("/v1/pets", json={"name": name, "categoryId": 7}).json
    assert created["name"] == name
    assert client.get("/v1/pets").json == [created]
    assert client.get(f"/v1/pets/{created['id']}").json == created


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "\u00a0\u2003\u2028\u3000",
        "x" * 201,
        "🐕" * 201,
        "\x00",
        "Rex\x00",
        "Rex\n",
        "\nRex",
        "a\tb",
        "a\nb",
        "a\rb",
        "\x1b[31mRex",
        "\x7f",
        "\x85",
        "\x9f",
        None,
        True,
        7,
        7.5,
        ["Rex"],
        {"name": "Rex"},
    ],
    ids=ascii,
)
def test_invalid_name_is_refused(client: FlaskClient, name: object):
    answer = client.post("/v1/pets", json={"name": name, "categoryId": 7})
    assert error_of(answer) == (400, "invalid_request")
    assert answer.json["message"].startswith("name: must ")
    assert not PetTable.select().exists()
