"""The log: one line of JSON for each request and event, without secrets."""

import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator
from select import PIPE_BUF
from typing import Any

import pytest
from flask.testing import FlaskClient

from petstore import concurrency, events, log
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.clocks import Clock
from tests.harness.programs import Program
from tests.harness.servers import ROOT
from tests.harness.waiting import wait_until

Lines = Callable[[], list[dict[str, Any]]]
REX = {"name": "Rex", "categoryId": 7}
GENERATED_ID = re.compile("[0-9a-f]{32}")


def test_request_is_logged_in_one_line(client: FlaskClient, key: str, lines: Lines):
    lines()
    answer = client.post("/v1/pets", json=REX)
    [line] = lines()
    assert line.pop("duration_ms") > 0
    told = {"event": "request", "time": "2027-03-17T12:00:10.000Z", "method": "POST"}
    told |= {"path": "/v1/pets", "route": "/v1/pets", "status": 201, "code": None}
    told |= {"project": "shelter", "key": key[:16], "address": "127.0.0.1"}
    told |= {"id": answer.headers["X-Request-ID"], "bytes": len(answer.data)}
    assert line == told


def test_request_is_logged_with_its_route_and_path(stranger: FlaskClient, lines: Lines):
    for path, route, status, code in (
        ("/v1/pets", "/v1/pets", 401, "missing_api_key"),
        ("/v1/pets/5?x=y", "/v1/pets/<id:pet_id>", 401, "missing_api_key"),
        ("/v1/nowhere", None, 401, "missing_api_key"),
        ("/nowhere", None, 404, "not_found"),
        ("/dashboard/nowhere", None, 404, "not_found"),
        ("/healthz", "/healthz", 200, None),
    ):
        stranger.get(path)
        [line] = lines()
        assert line["path"] == path.partition("?")[0]
        assert (line["route"], line["status"], line["code"]) == (route, status, code)
        assert (line["project"], line["key"]) == (None, None)


def test_path_is_cut_and_shows_no_key(stranger: FlaskClient, key: str, lines: Lines):
    stranger.get(f"/v1/{key}/{'x' * 999}")
    [line] = lines()
    assert line["path"].startswith(f"/v1/{key[:16]}…/xxx")
    assert len(line["path"]) == 256


def test_sane_request_id_is_kept(stranger: FlaskClient, key: str, lines: Lines):
    for sent in ("a", "A-Z_0.9:x", "x" * 128):
        answer = stranger.get("/v1/pets", headers={"X-Request-ID": sent})
        assert answer.headers.get_all("X-Request-ID") == [sent]
        assert lines()[0]["id"] == sent
    for sent in (
        *("", "x" * 129, "a b", 'a"}', "a\x1b[31m", "ä", "a\x00b", "a,b", "${x}"),
        *(key, f"job-1:{key}.2", f"{key}-{key}"),
    ):
        environ = {"HTTP_X_REQUEST_ID": sent}
        answer = stranger.get("/v1/pets", environ_overrides=environ)
        assert GENERATED_ID.fullmatch(answer.headers["X-Request-ID"])
        assert lines()[0]["id"] == answer.headers["X-Request-ID"]


def test_nobody_forges_a_line(stranger: FlaskClient, capfd: pytest.CaptureFixture[str]):
    forged = 'x"}\n{"event": "request", "status": 200}\r\n\u2028'
    forged += "\x00\x1b\x7f\x85\x9b31m\u2029\u202e\U000e0001"
    names = ("HTTP_X_REQUEST_ID", "HTTP_USER_AGENT", "REMOTE_ADDR")
    environ = dict.fromkeys(names, forged) | {"HTTP_AUTHORIZATION": f"Bearer {forged}"}
    sent = forged.encode().decode("latin-1")
    environ |= {"REQUEST_METHOD": sent, "QUERY_STRING": sent}
    stranger.get("/v1/pets", environ_overrides=environ)
    out = capfd.readouterr().out
    line = json.loads(out)
    assert (line["status"], line["route"]) == (401, None)
    assert line["address"] == forged
    assert out.isascii()
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
        caller.get("/v1/pets", headers={"X-Request-ID": key})
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
    bug, line = lines()
    assert bug["id"] == line["id"] == answer.headers["X-Request-ID"]
    assert (bug["event"], bug["level"]) == ("internal_error", "ERROR")
    assert "ZeroDivisionError" in bug["exception"]
    assert line["status"] == 500


@pytest.mark.usefixtures("app")
def test_fault_in_the_background_is_logged_like_one_of_a_request(lines: Lines):
    done = threading.Event()
    concurrency.start(lambda: done.set() or 1 / 0)
    found: list[dict[str, Any]] = []
    wait_until(lambda: done.is_set() and (found.extend(lines()) or found))
    assert (found[0]["event"], found[0]["level"]) == ("internal_error", "ERROR")
    assert "ZeroDivisionError" in found[0]["exception"]


def test_events_to_act_on_have_a_level(stranger: FlaskClient, lines: Lines):
    warnings = ("counters_lost", "database_busy", "other_server")
    levels = dict.fromkeys(warnings, "WARNING")
    levels |= {"database_error": "ERROR", "key_created": "INFO"}
    for event in levels:
        events.emit(event, reason="\ud800")
    assert {line["event"]: line["level"] for line in lines()} == levels


def test_what_libraries_log_is_one_line_on_stderr(capfd: pytest.CaptureFixture[str]):
    record = {"name": "gunicorn.error", "levelname": "WARNING", "msg": "a\nb"}
    log.LineHandler().handle(logging.makeLogRecord(record))
    out, err = capfd.readouterr()
    line = json.loads(err)
    del line["time"]
    assert line == {"event": "gunicorn", "level": "WARNING", "message": "a\nb"}
    assert out == ""


def test_commands_log_what_happens_to_keys_and_plans_on_stderr_without_secrets(
    flask: Callable, key: str, capfd: pytest.CaptureFixture[str]
):
    capfd.readouterr()
    successor = flask("keys", "rotate", key[:16]).stdout.strip()
    Key.update(banned_until_ms=2**62).execute()
    flask("keys", "unban", key[:16])
    flask("keys", "revoke", key[:16])
    flask("projects", "change", "shelter", "--plan", "pro")
    out, err = capfd.readouterr()
    lines = [json.loads(line) for line in err.splitlines()]
    when = {"time": "2027-03-17T12:00:10.000Z", "level": "INFO"}
    of_key = {"project": "shelter", "key": key[:16]}
    told = [(line["event"], line.get("key", line.get("plan"))) for line in lines]
    assert told == [
        *(("key_rotated", key[:16]), ("key_created", successor[:16])),
        *(("key_unbanned", key[:16]), ("key_revoked", key[:16])),
        ("plan_changed", "pro"),
    ]
    assert lines[0] == when | of_key | {"event": "key_rotated"}
    digests = [row.digest.hex() for row in Key.select()]
    for secret in (key[16:], successor[16:], *digests):
        assert secret not in out + err
    assert out == ""


@pytest.fixture
def terminal() -> Iterator[tuple[int, Callable[[int], list[str]]]]:
    """A terminal, and a function that returns the next lines on it, so many."""
    ours, theirs = os.openpty()

    def lines(count: int) -> list[str]:
        text = b""
        while text.count(b"\n") < count:  # the kernel may pass them on in pieces
            text += os.read(ours, 65_536)
        return text.decode().splitlines()

    yield theirs, lines
    os.close(ours)
    os.close(theirs)


def test_no_write_is_longer_than_a_pipe_keeps_whole_but_of_a_single_line(
    monkeypatch: pytest.MonkeyPatch,
):
    sizes = [PIPE_BUF - 1, 1, 1, PIPE_BUF, PIPE_BUF + 1, *range(1, 400)]
    waiting = [b"x" * (size - 1) + b"\n" for size in sizes]
    stream, written, pauses = log.Stream(1), [], iter([None])  # it writes once
    stream._lines.extend(waiting)
    monkeypatch.setattr(stream, "_write", written.append)
    monkeypatch.setattr(log, "original", lambda *_: lambda _: next(pauses))
    with pytest.raises(StopIteration):
        stream._write_lines()
    assert b"".join(written) == b"".join(waiting)
    assert [batch for batch in written if len(batch) > PIPE_BUF] == [waiting[4]]
    assert len(written) < len(sizes) / 10  # few writes, of many lines each


def test_line_on_a_terminal_is_for_eyes(terminal: tuple, clock: Clock):
    screen, lines = terminal
    stream = log.Stream(screen)
    request = {"event": "request", "id": "x", "method": "GET", "path": "/v1/\x1b\nß"}
    stream.log(request | {"status": 404, "duration_ms": 12.345, "code": None})
    stream.log({"event": "bug", "level": "ERROR", "exception": "Traceback:\n  \x1b[2J"})
    assert lines(4) == [
        r"12:00:10 404 GET    /v1/\x1b\n\xdf 12.3 ms",
        "12:00:10 event=bug level=ERROR",
        "Traceback:",
        r"  \x1b[2J",
    ]


def test_commands_on_a_terminal_say_what_they_did_and_log_nothing(
    project: Project, environ: dict[str, str], terminal: tuple
):
    screen, lines = terminal

    def flask(count: int, *arguments: str) -> list[str]:
        command, outputs = ["flask", *arguments], (os.dup(screen), os.dup(screen))
        program = Program(command, os.environ | environ, ROOT, outputs)
        assert program.wait(60) == 0
        return lines(count)

    key, said = flask(2, "keys", "create", "--label", "x" * 200, "--expires-in", "9")
    assert said == "Created this key of shelter; it is not shown again."
    said, heads, row = flask(3, "keys", "list")
    assert said.startswith("Only with --json: ")
    assert len(row) <= 100
    assert f"{'x' * 35}…  full" in row
    assert re.split(" {2,}", heads)[0] == "PREFIX"
    assert row.endswith("  shelter")
    for command, said in (
        (("keys", "revoke", key[:16]), f"Revoked {key[:16]}: its next request is"),
        (("projects", "change", "shelter", "--name", "X"), "Changed the project she"),
        (("projects", "delete", "shelter", "--yes"), "Deleted X (shelter) and every"),
    ):
        [line] = flask(1, *command)
        assert line.startswith(said)
