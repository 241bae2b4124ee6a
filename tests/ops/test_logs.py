"""The request log: one line of JSON on stdout per request, without secrets."""

import os
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from petstore import events
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.ops import logs

Lines = Callable[[], list[dict[str, Any]]]
REX = {"name": "Rex", "categoryId": 7}
GENERATED_ID = re.compile("[0-9a-f]{32}")


def test_request_is_logged_in_one_line_with_all_fields(
    client: FlaskClient, key: str, lines: Lines
):
    lines()
    answer = client.post("/v1/pets", json=REX)
    [line] = lines()
    assert line.pop("duration_ms") > 0
    assert line == {
        "time": "2027-03-17T12:00:10.000Z",
        "event": "request",
        "id": answer.headers["X-Request-ID"],
        "method": "POST",
        "route": "/v1/pets",
        "status": 201,
        "project": "shelter",
        "key": key[:16],
        "address": "127.0.0.1",
        "bytes": len(answer.data),
    }


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    "traceparent",
    [
        f"00-{TRACE}-00f067aa0ba902b7-01",
        f"00-{TRACE}-00f067aa0ba902b7-00",
        f"cc-{TRACE}-00f067aa0ba902b7-01",
        f"cc-{TRACE}-00f067aa0ba902b7-01-what-comes-later",
    ],
)
def test_trace_id_of_a_valid_traceparent_is_logged(
    stranger: FlaskClient, lines: Lines, traceparent: str
):
    stranger.get("/v1/pets", headers={"traceparent": traceparent})
    assert lines()[0]["trace"] == TRACE


@pytest.mark.parametrize(
    "traceparent",
    [
        "",
        "x",
        TRACE,
        f"ff-{TRACE}-00f067aa0ba902b7-01",
        f"00-{TRACE}-00f067aa0ba902b7-01-more",
        f"00-{TRACE}-00f067aa0ba902b7",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{TRACE.upper()}-00f067aa0ba902b7-01",
        f"cc-{TRACE}-00f067aa0ba902b7-01more",
        f" 00-{TRACE}-00f067aa0ba902b7-01",
    ],
)
def test_invalid_traceparent_is_not_logged(
    stranger: FlaskClient, lines: Lines, traceparent: str
):
    stranger.get("/v1/pets", headers={"traceparent": traceparent})
    assert "trace" not in lines()[0]


@pytest.mark.parametrize(
    ("path", "route", "status"),
    [
        ("/v1/pets", "/v1/pets", 401),
        ("/v1/pets/5?x=y", "/v1/pets/<id:pet_id>", 401),
        ("/v1/nowhere", None, 401),
        ("/nowhere", None, 404),
        ("/healthz", "/healthz", 200),
        ("/docs", "/docs", 200),
    ],
)
def test_request_without_a_key_is_logged_by_route_not_path(
    stranger: FlaskClient, lines: Lines, path: str, route: str | None, status: int
):
    stranger.get(path)
    [line] = lines()
    assert (line["route"], line["status"]) == (route, status)
    assert (line["project"], line["key"]) == (None, None)


@pytest.mark.parametrize("sent", ["a", "A-Z_0.9:x", "x" * 128])
def test_request_id_of_the_client_is_used(
    stranger: FlaskClient, lines: Lines, sent: str
):
    answer = stranger.get("/v1/pets", headers={"X-Request-ID": sent})
    assert answer.headers.get_all("X-Request-ID") == [sent]
    assert lines()[0]["id"] == sent


@pytest.mark.parametrize(
    "sent", ["", "x" * 129, "a b", 'a"}', "a\x1b[31m", "ä", "a\x00b", "a,b", "${x}"]
)
def test_invalid_request_id_is_replaced(stranger: FlaskClient, lines: Lines, sent: str):
    environ = {"HTTP_X_REQUEST_ID": sent}
    answer = stranger.get("/v1/pets", environ_overrides=environ)
    assert GENERATED_ID.fullmatch(answer.headers["X-Request-ID"])
    assert lines()[0]["id"] == answer.headers["X-Request-ID"]


def test_generated_request_ids_are_unique(stranger: FlaskClient):
    ids = {stranger.get("/v1/pets").headers["X-Request-ID"] for _ in range(50)}
    assert len(ids) == 50


def test_client_cannot_forge_log_lines(stranger: FlaskClient, lines: Lines):
    forged = 'x"}\n{"event": "request", "status": 200}\r\n\u2028'
    environ = {
        "REQUEST_METHOD": forged.encode().decode("latin-1"),
        "QUERY_STRING": forged.encode().decode("latin-1"),
        "HTTP_X_REQUEST_ID": forged,
        "HTTP_AUTHORIZATION": f"Bearer {forged}",
        "HTTP_USER_AGENT": forged,
        "REMOTE_ADDR": forged,
    }
    stranger.get("/v1/pets", environ_overrides=environ)
    [line] = lines()
    assert (line["status"], line["route"]) == (401, None)
    assert line["address"] == forged


def test_control_characters_are_escaped_on_a_terminal(
    stranger: FlaskClient,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(logs, "_terminals", {logs.STDOUT})
    forged = "\x1b[2J\n\x9b31m\u202e"
    stranger.get("/v1/pets", environ_overrides={"REMOTE_ADDR": forged})
    out = capfd.readouterr().out
    assert r"address=\x1b[2J\n\x9b31m\u202e" in out
    assert out.removesuffix("\n").isprintable()


def test_log_contains_no_secrets(
    client: FlaskClient,
    key: str,
    client_of: Callable[[str], FlaskClient],
    capfd: pytest.CaptureFixture[str],
):
    digest = Key.get().digest
    mistyped = key[:-1] + "!"
    for caller in (client, client_of(mistyped), client_of(f"{key} {key}")):
        caller.post("/v1/pets", json=REX, headers={"Idempotency-Key": "hush"})
        caller.get(f"/v1/pets?api_key={key}")
        caller.get(f"/v1/{key}", headers={"X-Request-ID": "seen"})
    out, err = capfd.readouterr()
    assert '"id":"seen"' in out
    for secret in (key[16:], mistyped[16:], "Bearer", "hush", "Rex", digest.hex()):
        assert secret not in out + err


def test_unhandled_exception_is_logged_with_the_request_id(
    client: FlaskClient, lines: Lines, monkeypatch: pytest.MonkeyPatch
):
    lines()
    monkeypatch.setattr(Pet, "page", lambda *_, **__: 1 / 0)
    answer = client.get("/v1/pets")
    assert (answer.status_code, answer.json["code"]) == (500, "internal_error")
    bug, line = lines()
    assert answer.headers["X-Request-ID"] in answer.json["message"]
    assert bug["id"] == line["id"] == answer.headers["X-Request-ID"]
    assert (bug["event"], bug["level"]) == ("internal_error", "ERROR")
    assert "ZeroDivisionError" in bug["exception"]
    assert "ZeroDivisionError" not in answer.text
    assert line["status"] == 500


def test_lone_surrogate_can_be_logged(lines: Lines):
    events.emit("strange", reason="\ud800")
    assert lines()[0]["reason"] == "\ud800"


def test_closed_log_pipe_does_not_fail_requests(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    reading, writing = os.pipe()
    os.close(reading)
    monkeypatch.setattr(logs, "STDOUT", writing)
    assert client.get("/v1/pets").status_code == 200
    os.close(writing)
