"""Log events about keys, bans and changes of plan."""

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.servers import ROOT


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
    assert lines[:-1] == [
        {"event": "key_rotated"} | when | of_key,
        {"event": "key_created"} | when | of_key | {"key": successor[:16]},
        {"event": "key_unbanned"} | when | of_key,
        {"event": "key_revoked"} | when | of_key,
    ]
    assert (lines[-1]["event"], lines[-1]["plan"]) == ("plan_changed", "pro")
    digests = [row.digest.hex() for row in Key.select()]
    for secret in (key[16:], successor[16:], *digests):
        assert secret not in out + err
    assert out == ""


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
