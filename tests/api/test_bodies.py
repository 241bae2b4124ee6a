"""Parsing and validation of JSON request bodies (RFC 8259, RFC 7493)."""

import io
import json
from functools import partial

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore.models.categories import CategoryTable
from petstore.models.pets import PetTable
from tests.harness.answers import INVALID, error_of, errors_of
from tests.harness.databases import of_one_engine

pytestmark = of_one_engine
MAX_BODY_BYTES = 65_536
REX = b'{"name": "Rex", "categoryId": 7}'
NO_JSON_OBJECTS = [
    *[b"", b" ", b"{", b"[]", b"[" + REX + b"]", b"null", b"true", b"7", b'"Rex"'],
    *[REX + b"x", REX + REX, REX + b"\x00", b"{'name': 'Rex', 'categoryId': 7}"],
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
    *[REX.decode().encode(name) for name in ("utf-16", "utf-16-le", "utf-32")],
    b'{"name": "Rex", "categoryId": 7, "x": ' + b"[" * 2000 + b"]" * 2000 + b"}",
    b'{"name": "Rex", "categoryId": ' + b'{"x":' * 9000 + b"1" + b"}" * 9001,
    b"[" * 65_000,
    b'{"name": "Rex", "categoryId": 7, "x": ' + b"1" * 60_000 + b"}",
]
NO_PETS = [
    {},
    {"name": "Rex"},
    {"categoryId": 7},
    {"name": None, "categoryId": 7},
    {"name": "Rex", "categoryId": 7, "colour": "red"},
    {"name": "Rex", "categoryId": 7, "id": 1},
    {"name": "Rex", "categoryId": 7, "": None},
    {"name": "Rex", "category_id": 7},
    {"Name": "Rex", "categoryId": 7},
    *[
        {"name": "Rex", "categoryId": 7, "status": status}
        for status in ("lost", "Available", "", None, ["sold"], 0)
    ],
]


def send(
    client: FlaskClient, body: bytes | str, content_type: str = "application/json"
) -> TestResponse:
    return client.post("/v1/pets", data=body, content_type=content_type)


def send_chunked(client: FlaskClient, body: bytes) -> TestResponse:
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
    ("body", "fault"),
    [
        (b'{\n "name": "\xc3\x84",\n}', "at line 2, column 13: trailing comma"),
        (b'{"\xc3\x84": x}', "at line 1, column 7: unexpected character"),
        (b"", "at line 1, column 1: Input is a zero-length, empty document"),
        (b'{"name": "\xff"}', "body: must be UTF-8"),
        (b'{"name": 1e-99999999999999999999}', "numbers up to 1.8e308"),
        (b"[]", "body: must be a JSON object"),
    ],
)
def test_message_says_where_the_json_ends(client: FlaskClient, body: bytes, fault: str):
    assert fault in send(client, body).json["message"]


def test_body_other_than_a_utf_8_json_object_is_refused(client: FlaskClient):
    found = errors_of(partial(send, client), NO_JSON_OBJECTS)
    assert found == dict.fromkeys(NO_JSON_OBJECTS, INVALID)
    assert is_nothing_written()


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ('{"name": "Rex", "categoryId": 7, "name": "Rex"}', "name"),
        ('{"name": "Rex", "categoryId": 7, "n\\u0061me": "Ada"}', "name"),
        ('{"name": "Rex", "categoryId": 7, "categoryId": 7}', "categoryId"),
    ],
)
def test_repeated_member_is_refused(client: FlaskClient, body: str, name: str):
    answer = send(client, body)
    assert error_of(answer) == INVALID
    assert answer.json["message"] == f"{name}: must not be repeated"


def test_repeated_member_does_not_hide_other_errors(client: FlaskClient):
    answer = send(client, '{"name": "x", "name": 5, "status": "lost", "q": 1}')
    assert error_of(answer) == INVALID
    assert set(answer.json["message"].split("; ")) >= {
        "name: must not be repeated",
        "categoryId: is required",
        "status: must be one of available, pending, sold",
        "q: is unknown",
    }


def test_missing_unknown_and_invalid_members_are_refused(client: FlaskClient):
    bodies = [json.dumps(members) for members in NO_PETS]
    found = errors_of(partial(send, client), bodies)
    assert found == dict.fromkeys(bodies, INVALID)
    assert is_nothing_written()


def test_charset_other_than_utf_8_is_refused(client: FlaskClient):
    charsets = ["utf-16", "latin-1", "utf-8-sig", "nonsense"]
    kinds = [f"application/json; charset={charset}" for charset in charsets]
    found = errors_of(partial(send, client, REX), kinds)
    assert found == dict.fromkeys(kinds, INVALID)
    assert is_nothing_written()


@pytest.mark.parametrize(
    "content_type",
    [
        "Application/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
        "application/json; charset=us-ascii",  # which UTF-8 contains
    ],
)
def test_json_content_type_is_accepted_in_any_spelling(
    client: FlaskClient, content_type: str
):
    body = '{"name": "Mäx", "categoryId": 7}'.encode()
    assert send(client, body, content_type).json["name"] == "Mäx"


def test_body_other_than_json_is_an_unsupported_media_type(client: FlaskClient):
    kinds = [
        *["", "text/plain", "text/json", "application/jsonp"],
        *["application/problem+json", "application/merge-patch+json"],
        *["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
    ]
    found = errors_of(partial(send, client, REX), kinds)
    assert found == dict.fromkeys(kinds, (415, "unsupported_media_type"))
    assert is_nothing_written()


def test_encoded_body_is_an_unsupported_media_type(client: FlaskClient):
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = client.post("/v1/pets", data=REX, headers=headers)
    assert error_of(answer) == (415, "unsupported_media_type")


def test_body_of_exactly_64_kib_is_accepted(client: FlaskClient):
    assert send(client, REX.ljust(MAX_BODY_BYTES)).status_code == 201
    assert send_chunked(client, REX.ljust(MAX_BODY_BYTES)).status_code == 201


@pytest.mark.parametrize("excess", [b" ", b"x", b" " * 200_000])
def test_body_over_64_kib_is_too_large(client: FlaskClient, excess: bytes):
    body = REX.ljust(MAX_BODY_BYTES) + excess
    assert error_of(send(client, body)) == (413, "body_too_large")
    assert error_of(send_chunked(client, body)) == (413, "body_too_large")
    assert is_nothing_written()


def test_whitespace_around_the_body_is_ignored(client: FlaskClient):
    assert send(client, b"\r\n\t " + REX + b"\n").status_code == 201
