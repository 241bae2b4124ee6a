"""Parsing and validation of JSON request bodies (RFC 8259, RFC 7493)."""

import io

import pytest
from flask.testing import FlaskClient

from petstore.models.categories import CategoryTable
from petstore.models.pets import PetTable
from tests.answers import error_of

MAX_BODY_BYTES = 65_536
REX = b'{"name": "Rex", "categoryId": 7}'


def send(client: FlaskClient, body: bytes):
    return client.post("/v1/pets", data=body, content_type="application/json")


def send_chunked(client: FlaskClient, body: bytes):
    # A WSGI server that decodes chunks sets this flag and no Content-Length.
    return client.post(
        "/v1/pets",
        input_stream=io.BytesIO(body),
        content_type="application/json",
        environ_overrides={"wsgi.input_terminated": True},
    )


def is_nothing_written() -> bool:
    return not PetTable.select().exists() and not CategoryTable.select().exists()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"[]",
        b"[" + REX + b"]",
        b"null",
        b"true",
        b"7",
        b'"Rex"',
        REX + b"x",
        REX + REX,
        REX + b"\x00",
        b"{'name': 'Rex', 'categoryId': 7}",
        b'{"name": "Rex", "categoryId": 7,}',
        b'{"name": "Rex", /* why */ "categoryId": 7}',
        b'{"name": "Rex", "categoryId": 7, "x": NaN}',
        b'{"name": "Rex", "categoryId": 7, "x": Infinity}',
        b'{"name": "Rex", "categoryId": 7, "x": -Infinity}',
        b'{"name": "\x00", "categoryId": 7}',
        b'{"name": "\n", "categoryId": 7}',
        b'{"name": "\\x41", "categoryId": 7}',
        b'{"name": "\\ud800", "categoryId": 7}',
        b'{"name": "\\udc00\\ud800", "categoryId": 7}',
        b'{"name": "Rex", "categoryId": 7, "\\ud800": 1}',
        b'{"name": "\xed\xa0\x80", "categoryId": 7}',
        b'{"name": "\xc0\xaf", "categoryId": 7}',
        b'{"name": "\xf4\x90\x80\x80", "categoryId": 7}',
        '{"name": "Mäx", "categoryId": 7}'.encode("latin-1"),
        b"\xef\xbb\xbf" + REX,
        REX.decode().encode("utf-16"),
        REX.decode().encode("utf-16-le"),
        REX.decode().encode("utf-32"),
        b'{"name": "Rex", "categoryId": 7, "x": ' + b"[" * 2000 + b"]" * 2000 + b"}",
        b'{"name": "Rex", "categoryId": ' + b'{"x":' * 9000 + b"1" + b"}" * 9001,
        b"[" * 65_000,
        b'{"name": "Rex", "categoryId": 7, "x": ' + b"1" * 60_000 + b"}",
    ],
    ids=lambda body: repr(body[:48]),
)
def test_body_other_than_a_utf_8_json_object_is_refused(
    client: FlaskClient, body: bytes
):
    answer = send(client, body)
    assert error_of(answer) == (400, "invalid_request")
    assert answer.json["message"].startswith("body: ")
    assert is_nothing_written()


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"name": "Rex", "categoryId": 7, "name": "Rex"}', "name"),
        (b'{"name": "Rex", "categoryId": 7, "n\\u0061me": "Ada"}', "name"),
        (b'{"name": "Rex", "categoryId": 7, "categoryId": 7}', "categoryId"),
    ],
)
def test_duplicate_member_is_refused(client: FlaskClient, body: bytes, name: str):
    answer = send(client, body)
    assert error_of(answer) == (400, "invalid_request")
    assert answer.json["message"] == f"{name}: stands twice"


def test_duplicate_member_does_not_hide_other_errors(client: FlaskClient):
    sent = '{"name": "x", "name": 5, "q": 1}'
    answer = client.post("/v1/pets", data=sent, content_type="application/json")
    assert answer.status_code == 400
    for fault in ("name: stands twice", "q: is not known", "categoryId: is required"):
        assert fault in answer.json["message"]
    assert is_nothing_written()


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"name": "Rex"},
        {"categoryId": 7},
        {"name": "Rex", "categoryId": 7, "colour": "red"},
        {"name": "Rex", "categoryId": 7, "id": 1},
        {"name": "Rex", "categoryId": 7, "": None},
        {"name": "Rex", "category_id": 7},
        {"Name": "Rex", "categoryId": 7},
        {"name": "Rex", "categoryId": 7, "status": "lost"},
        {"name": "Rex", "categoryId": 7, "status": "Available"},
        {"name": "Rex", "categoryId": 7, "status": ""},
        {"name": "Rex", "categoryId": 7, "status": None},
        {"name": "Rex", "categoryId": 7, "status": ["sold"]},
        {"name": "Rex", "categoryId": 7, "status": 0},
    ],
)
def test_missing_unknown_and_invalid_members_are_refused(
    client: FlaskClient, members: dict
):
    assert error_of(client.post("/v1/pets", json=members)) == (400, "invalid_request")
    assert is_nothing_written()


@pytest.mark.parametrize("charset", ["utf-16", "latin-1", "utf-8-sig", "nonsense"])
def test_charset_other_than_utf_8_is_refused(client: FlaskClient, charset: str):
    content_type = f"application/json; charset={charset}"
    answer = client.post("/v1/pets", data=REX, content_type=content_type)
    assert error_of(answer) == (400, "invalid_request")
    assert is_nothing_written()


def test_body_of_exactly_64_kib_is_accepted(client: FlaskClient):
    assert send(client, REX.ljust(MAX_BODY_BYTES)).status_code == 201
    assert send_chunked(client, REX.ljust(MAX_BODY_BYTES)).status_code == 201


@pytest.mark.parametrize("excess", [b" ", b"x", b" " * 200_000])
def test_body_over_64_kib_is_too_large(client: FlaskClient, excess: bytes):
    body = REX.ljust(MAX_BODY_BYTES) + excess
    assert error_of(send(client, body)) == (413, "body_too_large")
    assert error_of(send_chunked(client, body)) == (413, "body_too_large")
    assert is_nothing_written()


def test_chunked_body_is_read_to_its_end(client: FlaskClient):
    answer = send_chunked(client, REX)
    assert answer.status_code == 201
    assert answer.json["name"] == "Rex"


def test_missing_body_is_refused(client: FlaskClient):
    answer = client.post("/v1/pets", content_type="application/json")
    assert error_of(answer) == (400, "invalid_request")


def test_whitespace_around_the_body_is_ignored(client: FlaskClient):
    assert send(client, b"\r\n\t " + REX + b"\n").status_code == 201
