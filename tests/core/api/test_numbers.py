"""Parameters, members and fields are refused by their number alone."""

import json
from collections.abc import Callable

import pytest
from flask import Flask, request
from flask.testing import FlaskClient

from petstore.api.contract import read_object
from petstore.errors import InvalidRequest
from tests.core.api.conftest import REX
from tests.harness.calls import counted_calls
from tests.harness.databases import of_one_engine

pytestmark = of_one_engine


def test_20_unknown_parameters_are_named_and_one_more_is_refused(client: FlaskClient):
    names = [f"p{number}" for number in range(20)]
    message = client.get(f"/v1/pets?{'&'.join(names)}").json["message"]
    assert all(f"{name}: " in message for name in names)
    for path in ("/v1/pets", "/v1/pets/7", "/v1/store/orders", "/v1/categories"):
        answer = client.get(f"{path}?{'&' * 20}")
        assert answer.status_code == 400
        assert answer.json["message"] == "query: must have at most 20 parameters"


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({str(number): 1 for number in range(101)}),
        "{" + '"a":1,' * 100 + '"a":1}',
        '{"name":' + json.dumps([{str(number): 1} for number in range(101)]) + "}",
        '{"name":[' + "{}," * 100 + "{ }]}",
        '{"name":{' + '"a":{},' * 100 + '"a":{}}}',
    ],
    ids=["members", "one member", "nested", "empty objects", "nested and repeated"],
)
def test_more_than_100_members_are_refused(client: FlaskClient, body: str):
    answer = client.post("/v1/pets", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json["message"] == "body: must have at most 100 members"


def test_members_within_a_text_are_not_counted(client: FlaskClient):
    for name in (":" * 200, '":' * 66, '\\":' * 60, "{}[]," * 40):
        assert client.post("/v1/pets", json=REX | {"name": name}).json["name"] == name


def calls_until_refused(read: Callable[[], object]) -> int:
    """Return how many functions are called until the current request is refused."""
    # Counted in this thread, where a client's request would not run.
    with counted_calls() as calls, pytest.raises(InvalidRequest, match="at most"):
        read()
    return len(calls)


@pytest.mark.parametrize(
    ("start", "unit"),
    [("{", '"a":1,'), ("{", '"\\u0041":"\\"",'), ('{"a":[', "{},")],
)
def test_members_cost_nothing_by_their_number(app: Flask, start: str, unit: str):
    def calls(count: int) -> int:
        sent = {"data": start + unit * count, "content_type": "application/json"}
        with app.test_request_context(method="POST", **sent):
            return calls_until_refused(read_object)

    calls(200)  # what is imported at the first use
    assert calls(4000) == calls(200)


def test_parameters_cost_nothing_by_their_number(app: Flask):
    def calls(count: int) -> int:
        with app.test_request_context(f"/v1/pets?{'a&' * count}"):
            return calls_until_refused(lambda: request.args)

    calls(30)
    assert calls(8000) == calls(30)
