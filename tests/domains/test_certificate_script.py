"""deploy/certificates.sh: the certificates that it obtains and deletes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from flask import Flask

from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from tests.harness.databases import of_one_engine
from tests.harness.host_fixtures import NAME, Own
from tests.harness.servers import ROOT

Done = Callable[..., list[str]]

CURL = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[-1]).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""
SCRIPT = ROOT / "deploy" / "certificates.sh"
# The script does not depend on the engine.
pytestmark = of_one_engine


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """The host and port of a server that runs the service."""
    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory with stubs of certbot, which records its calls, and of curl."""
    write_program(tmp_path / "certbot", f'#!/bin/sh\necho "$@" >> {tmp_path}/told\n')
    write_program(tmp_path / "curl", f"#!{sys.executable}\n{CURL}")
    (tmp_path / "told").touch()
    return tmp_path


def write_program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def done(address: str, programs: Path, capfd: pytest.CaptureFixture) -> Done:
    """Return a function that runs the script on a log and returns certbot's calls."""
    path = f"{programs}:{os.environ['PATH']}"
    environ = os.environ | {"PATH": path, "PETSTORE_ASK": address}

    def done(log: str | None = None) -> list[str]:
        lines = capfd.readouterr().out if log is None else log
        subprocess.run([SCRIPT], input=lines, env=environ, text=True, check=True)
        told = (programs / "told").read_text().splitlines()
        return [re.sub(" .*--cert-name", "", line) for line in told]

    return done


def test_a_verified_domain_gets_a_certificate(done: Done, shop: Domain):
    assert done() == [f"certonly petstore-{NAME} -d {NAME}"]


def test_certificate_of_a_removed_domain_is_deleted(done: Done, shop: Domain):
    shop.remove()
    assert done() == [f"delete petstore-{NAME}"]


def test_certificate_is_kept_as_long_as_one_project_owns_the_domain(
    done: Done, project: Project, shop: Domain, rival: Project, own: Own
):
    shop.remove()
    own(rival, NAME)
    Domain.add(project, NAME).remove()
    assert set(done()) == {f"certonly petstore-{NAME} -d {NAME}"}


def test_nothing_is_done_while_the_service_fails(
    done: Done, app: Flask, shop: Domain, monkeypatch: pytest.MonkeyPatch
):
    shop.remove()
    monkeypatch.setitem(app.view_functions, "tls.tls_allowed", lambda: 1 / 0)
    assert done() == []


@pytest.mark.parametrize("text", ["", "x\\", "\\\\"])
def test_event_text_inside_a_label_is_ignored(done: Done, text: str):
    facts = f'{text}"event":"domain_removed","domain":"{NAME}"'
    line = json.dumps({"event": "request", "label": facts})
    assert done(line) == []


def test_downgrade_deletes_no_certificate(done: Done, project: Project, shop: Domain):
    project.change_plan(Plan("free"))
    assert done() == []
