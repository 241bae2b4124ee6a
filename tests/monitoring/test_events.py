"""Log events about keys, bans and changes of plan."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.clocks import Clock
from tests.harness.servers import ROOT

Told = Callable[[], list[dict[str, Any]]]
TIME = "2027-03-17T12:00:10.000Z"


@pytest.fixture
def told(key: str, capfd: pytest.CaptureFixture[str]) -> Told:
    """Return a function that reads the events on stderr since the last call."""
    capfd.readouterr()

    def told() -> list[dict[str, Any]]:
        out, err = capfd.readouterr()
        assert out == ""
        lines = [json.loads(line) for line in err.splitlines()]
        assert {(line.pop("time"), line.pop("level")) for line in lines} <= {
            (TIME, "INFO")
        }
        return lines

    return told


def test_commands_log_what_happens_to_keys_and_plans_on_stderr(
    flask: Callable, told: Told, key: str
):
    of_key = {"project": "shelter", "key": key[:16]}
    successor = flask("keys", "rotate", key[:16]).stdout.strip()[:16]
    assert told() == [
        {"event": "key_rotated"} | of_key,
        {"event": "key_created"} | of_key | {"key": successor},
    ]
    Key.update(banned_until_ms=2**62).execute()
    for command, event in (("unban", "key_unbanned"), ("revoke", "key_revoked")):
        flask("keys", command, key[:16])
        assert told() == [{"event": event} | of_key]
    flask("projects", "change", "shelter", "--plan", "pro")
    [event] = told()
    assert (event["event"], event["plan"]) == ("plan_changed", "pro")


def test_events_contain_no_secrets(
    flask: Callable, capfd: pytest.CaptureFixture[str], project: Project
):
    key = flask("keys", "create").stdout.strip()
    successor = flask("keys", "rotate", key[:16]).stdout.strip()
    out, err = capfd.readouterr()
    digests = [row.digest.hex() for row in Key.select()]
    for secret in (key[16:], successor[16:], *digests):
        assert secret not in out + err


def test_ban_is_logged_once_with_the_request_id(
    client: FlaskClient, key: str, project: Project, clock: Clock, lines: Told
):
    project.change_plan(Plan("enterprise", 1, 10))
    lines()
    for _ in range(13):
        answer = client.get("/v1/pets", headers={"X-Request-ID": f"at-{clock.now_ms}"})
        if answer.status_code == 429 and answer.json["code"] == "api_key_banned":
            break
        clock.move(seconds=1)
    [event] = [line for line in lines() if line["event"] == "key_banned"]
    assert event["key"] == event["by"] == key[:16]
    assert event["project"] == "shelter"
    assert event["id"] == answer.headers["X-Request-ID"]
    assert event["until_ms"] == clock.now_ms + 300 * service_clock.MS_PER_SECOND


def test_events_of_commands_are_not_shown_on_a_terminal(
    project: Project, environ: dict[str, str]
):
    ours, theirs = os.openpty()
    os.write(theirs, b"nothing else")
    command = [sys.executable, "-m", "flask", "keys", "create"]
    output = {"stdout": subprocess.DEVNULL, "stderr": theirs}
    subprocess.run(command, cwd=ROOT, env=os.environ | environ, check=True, **output)
    assert os.read(ours, 1024) == b"nothing else"
    os.close(ours)
    os.close(theirs)
