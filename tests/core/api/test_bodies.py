"""Parsing and validation of JSON request bodies (RFC 8259, RFC 7493)."""

import json
from functools import partial

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.core.api.conftest import REX
from tests.harness.answers import INVALID, error_of, errors_of
from tests.harness.clients import ORDERS, PETS
from tests.harness.databases import of_one_engine

pytestmark = of_one_engine
MAX_BODY_BYTES = 65_536
PET = json.dumps(REX).encode()
NO_JSON_OBJECTS = [
    *[b"", b" ", b"{", b"[]", b"[" + PET + b"]", b"null", b"true", b"7", b'"Rex"'],
    *[PET + b"x", PET + PET, PET + b"\x00", b"{'name': 'Rex', 'categoryId': 7}"],
    b'{"name": "Rex", "categoryId": 7, "x": NaN}',
    b'{"name": "Rex", "categoryId": 7, "x": -Infinity}',
    b'{"name": "\n", "categoryId": 7}',
    b'{"name": "\\ud800", "categoryId": 7}',
    b'{"name": "Rex", "categoryId": 7, "\\ud800": 1}',
    b'{"name": "\xed\xa0\x80", "categoryId": 7}',
    '{"name": "Mäx", "categoryId": 7}'.encode("latin-1"),
    b"\xef\xbb\xbf" + PET,
    *[PET.decode().encode(name) for name in ("utf-16", "utf-16-le", "utf-32")],
    b'{"name": "Rex", "categoryId": 7, "x": ' + b"[" * 2000 + b"]" * 2000 + b"}",
    b"[" * 65_000,
    b'{"name": "Rex", "categoryId": 7, "x": ' + b"1" * 60_000 + b"}",
]
NO_ID = f"petId: must be an integer from 0 to {2**63 - 1}"
NO_NAME = "name: must have 1 to 200 characters"
NO_STATUS = "status: must be one of available, pending, sold"
NO_END = "status: must be one of completed, cancelled"
PET_PATH, ORDER, CATEGORY = f"{PETS}/1", f"{ORDERS}/1", "/v1/categories/7"
FAULTS = [
    ("POST", PETS, "{}", "name: is required; categoryId: is required"),
    ("POST", PETS, '{"Name": "x", "categoryId": 7}', "name: is required; Name: is unk"),
    ("POST", PETS, '{"name": null}', "name: must be a string; categoryId: is required"),
    ("POST", PETS, '{"name": "x", "categoryId": 7, "id": 1}', "id: is unknown"),
    ("POST", PETS, '{"name": "x", "categoryId": 7, "status": null}', NO_STATUS),
    ("POST", PETS, '{"name": "x", "categoryId": 7, "status": ["sold"]}', NO_STATUS),
    ("POST", PETS, '{"name": "x", "categoryId": 7, "{0}": 1}', "{0}: is unknown"),
    ("POST", PETS, '{"categoryId": 7, "name": "x", "n\\u0061me": "y"}', "name: must n"),
    ("POST", PETS, '{"name": "x", "name": 5, "q": 1}', "name: must not be repeated; c"),
    ("PATCH", PET_PATH, "{}", "body: must have name or categoryId or status"),
    ("PATCH", PET_PATH, '{"name": null}', "name: must be a string"),
    ("PATCH", PET_PATH, '{"name": "", "status": "Sold"}', f"{NO_NAME}; {NO_STATUS}"),
    ("PATCH", PET_PATH, '{"name": "Max", "id": 9}', "id: is unknown"),
    ("PATCH", PET_PATH, "[]", "body: must be a JSON object"),
    ("POST", ORDERS, "{}", "petId: is required"),
    ("POST", ORDERS, '{"petId": "1"}', NO_ID),
    ("POST", ORDERS, '{"petId": 1, "status": "placed"}', "status: is unknown"),
    ("POST", ORDERS, '{"petId": 1, "reference": " "}', "reference: must have a ch"),
    ("POST", ORDERS, '{"petId": 1, "reference": 7}', "reference: must be a string"),
    ("PATCH", ORDER, "{}", "body: must have status or reference"),
    ("PATCH", ORDER, '{"reference": ""}', "reference: must have 1 to 200 characters"),
    ("PATCH", ORDER, '{"status": "placed"}', NO_END),
    ("PATCH", ORDER, '{"status": null, "reference": "x"}', NO_END),
    ("PATCH", ORDER, '{"status": "completed", "petId": 1}', "petId: is unknown"),
    ("PUT", CATEGORY, "{}", "name: is required"),
    ("PUT", CATEGORY, '{"name": "Dogs", "id": 7}', "id: is unknown"),
]


def send(
    client: FlaskClient, body: bytes | str, content_type: str = "application/json"
) -> TestResponse:
    return client.post(PETS, data=body, content_type=content_type)


def is_nothing_written(client: FlaskClient) -> bool:
    return client.get(PETS).json == client.get("/v1/categories").json == []


def test_message_says_where_the_json_ends(client: FlaskClient):
    for body, fault in (
        (b'{\n "name": "\xc3\x84",\n}', "at line 2, column 13: trailing comma"),
        (b'{"\xc3\x84": x}', "at line 1, column 7: unexpected character"),
        (b'{"name": "\xff"}', "body: must be UTF-8"),
        (b'{"name": 1e-99999999999999999999}', "a number with too large an exponent"),
    ):
        assert fault in send(client, body).json["message"]


def test_body_other_than_a_utf_8_json_object_is_refused(client: FlaskClient):
    found = errors_of(partial(send, client), NO_JSON_OBJECTS)
    assert found == dict.fromkeys(NO_JSON_OBJECTS, INVALID)
    assert is_nothing_written(client)


def test_body_at_fault_is_refused_with_its_reasons(client: FlaskClient, order: dict):
    paths = (PETS, ORDERS, "/v1/categories")
    before = [client.get(path).json for path in paths]
    for method, path, body, fault in FAULTS:
        sent = {"data": body, "content_type": "application/json"}
        answer = client.open(path, method=method, **sent)
        assert error_of(answer) == INVALID
        assert answer.json["message"].startswith(fault)
    assert [client.get(path).json for path in paths] == before


def test_media_type_is_refused_for_what_was_found(client: FlaskClient):
    for headers, said in (
        ({"Content-Type": "text/json"}, "sent with Content-Type: application/json."),
        ({"Content-Encoding": "gzip"}, "sent without Content-Encoding."),
        ({"Content-Type": "application/json; charset=latin-1"}, "charset than utf-8"),
    ):
        sent = {"Content-Type": "application/json"} | headers
        message = client.post(PETS, data=PET, headers=sent).json["message"]
        assert message.endswith(said)


def test_each_member_at_fault_is_named_and_a_long_name_is_cut(client: FlaskClient):
    answer = client.post(PETS, json={f"x{n}": 1 for n in range(100)})
    assert answer.json["message"].count("; ") == 101  # two are required
    answer = client.post(PETS, json={"x" * 60_000: 1})
    assert error_of(answer) == INVALID
    assert len(answer.data) < 300


def test_only_json_in_utf_8_is_accepted_in_any_spelling_of_its_type(
    client: FlaskClient,
):
    charsets = ["utf-16", "latin-1", "utf-8-sig", "nonsense"]
    kinds = [f"application/json; charset={charset}" for charset in charsets]
    found = errors_of(partial(send, client, PET), kinds)
    assert found == dict.fromkeys(kinds, INVALID)
    others = ["", "text/json", "application/jsonp", "application/problem+json"]
    found = errors_of(partial(send, client, PET), others)
    assert found == dict.fromkeys(others, (415, "unsupported_media_type"))
    for method, accepted in (("POST", None), ("PATCH", "application/json")):
        path = PETS if method == "POST" else PET_PATH
        refused = client.open(path, method=method, data=PET, content_type="text/json")
        assert refused.headers.get("Accept-Patch") == accepted
    encoded = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert client.post(PETS, data=PET, headers=encoded).status_code == 415
    assert is_nothing_written(client)
    body = PET.replace(b"Rex", "Réx".encode())
    for charset in ("", "; charset=utf-8", ';charset="UTF-8"', "; charset=us-ascii"):
        answer = send(client, body, f"Application/JSON{charset}")
        assert answer.json["name"] == "Réx"


def test_body_may_have_64_kib_and_no_byte_more(client: FlaskClient):
    for excess in (b" ", b"x", b" " * 200_000):
        body = PET.ljust(MAX_BODY_BYTES) + excess
        assert error_of(send(client, body)) == (413, "body_too_large")
    assert is_nothing_written(client)
    for largest in (PET.ljust(MAX_BODY_BYTES), b"\r\n\t " + PET + b"\n"):
        assert send(client, largest).status_code == 201
