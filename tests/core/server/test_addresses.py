"""Where gunicorn listens, and how it calls its peers, in networks of their own."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from tests.harness.servers import ROOT

IN_A_NETWORK = ("unshare", "--net", "--map-root-user")
IS_POSSIBLE = subprocess.getstatusoutput(f"{shlex.join(IN_A_NETWORK)} true")[0] == 0


@pytest.mark.skipif(not IS_POSSIBLE, reason="this user may make no networks")
@pytest.mark.parametrize(
    ("settings", "peers"),
    [
        (["bindv6only=0"], ["127.0.0.1", "::1"]),
        (["bindv6only=1"], ["127.0.0.1", "::1"]),
        (["conf/all/disable_ipv6=1"], ["127.0.0.1"]),
    ],
)
def test_port_is_open_for_ipv4_and_ipv6(
    sqlite_url: str, settings: list[str], peers: list[str]
):
    command = [sys.executable, "-m", "tests.core.server.own_network", *settings]
    environ = os.environ | {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "1"}
    printed = subprocess.check_output([*IN_A_NETWORK, *command], env=environ, cwd=ROOT)
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [line["address"] for line in lines if line["event"] == "request"] == peers
