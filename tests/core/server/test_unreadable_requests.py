"""Unreadable requests get an error of the usual form, and close the connection."""

import json
import re

import pytest

from tests.core.server.requests import HEAD, TOO_LARGE, UNREADABLE
from tests.harness.answers import RATE_LIMIT_HEADERS
from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until
from tests.harness.wire import Answer, Wire, get


def error_of(answer: Answer) -> tuple[int, str]:
    """Check the form of an error response and return its status and code."""
    assert answer.headers.keys() >= RATE_LIMIT_HEADERS | {"X-Request-ID"}
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Connection"] == "close"
    assert set(answer.json) == {"code", "message", "status"}
    assert answer.json["status"] == answer.status
    assert re.fullmatch(r"[A-Z].* .*[.]", answer.json["message"])
    return answer.status, answer.json["code"]


@pytest.mark.parametrize("name", UNREADABLE)
def test_malformed_request_is_refused(wire: Wire, name: str):
    answer = wire.send(UNREADABLE[name]).answer()
    assert error_of(answer) == (400, "invalid_request")
    assert wire.is_closed()


@pytest.mark.parametrize("name", TOO_LARGE)
def test_too_large_or_too_many_headers_get_431(wire: Wire, name: str):
    answer = wire.send(TOO_LARGE[name]).answer()
    assert error_of(answer) == (431, "headers_too_large")
    assert wire.is_closed()


@pytest.mark.parametrize("count", [1, 98])
def test_headers_up_to_the_limit_are_accepted(wire: Wire, key: str, count: int):
    room = HEAD - len(get(key, *["X: "] * count))
    lines = ["X: " + "a" * (room // count)] * count
    assert wire.send(get(key, *lines)).answer().status == 200


def test_malformed_request_is_logged_once(wire: Wire, service: Gunicorn):
    request_id = wire.send(b"BAD\r\n\r\n").answer().headers["X-Request-ID"]
    wait_until(lambda: request_id in service.log.read_text())
    log = service.log.read_text().splitlines()
    [line] = [json.loads(line) for line in log if request_id in line]
    assert (line["event"], line["status"]) == ("request", 400)
