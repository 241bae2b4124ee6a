"""deploy/certificates.sh: there is a certificate for each domain that is listed."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from click.testing import Result
from flask import Flask

from petstore.models.domains import DnsResult, Domain
from petstore.models.projects import Plan, Project
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine
from tests.harness.host_fixtures import BASE, NAME, Own
from tests.harness.servers import ROOT

Done = Callable[[], list[str]]

OTHER = "other.example.org"

# Records its calls, and makes or deletes certificates.
CERTBOT = """#!{0}
import pathlib, shutil, sys
place, words = pathlib.Path("{1}"), sys.argv[1:]
with open(place / "told", "a") as told:
    print(*words, file=told)
if (place / "fails").exists():
    sys.exit(1)
directory = place / "live" / words[words.index("--cert-name") + 1]
if words[0] == "delete":
    shutil.rmtree(directory)
else:
    directory.mkdir()
    (directory / "fullchain.pem").touch()
"""
CURL = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[-1]).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""
SCRIPT = ROOT / "deploy" / "certificates.sh"
HOOK = SCRIPT.with_name("certbot-hook.sh")
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
def place(tmp_path: Path) -> Path:
    """A directory with certificates, and with stubs of the programs that are called.

    certbot records its calls, and fails while there is a file `fails`; flask prints
    what the test has put into `listed`.
    """
    (tmp_path / "live").mkdir()
    (tmp_path / "told").touch()
    write_program(tmp_path / "certbot", CERTBOT.format(sys.executable, tmp_path))
    write_program(tmp_path / "curl", f"#!{sys.executable}\n{CURL}")
    write_program(tmp_path / "flask", f"#!/bin/sh\nexec cat {tmp_path}/listed\n")
    return tmp_path


def write_program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def run(address: str, place: Path) -> Callable[[], int]:
    """Return a function that runs the script on what is there, and its exit code."""
    environ = os.environ | {
        "PATH": f"{place}:{os.environ['PATH']}",
        "PETSTORE_ASK": address,
        "CERTBOT_LIVE": str(place / "live"),
        "ACME_WEBROOT": str(place / "acme"),
        "STATE_DIRECTORY": str(place / "state"),
    }
    return lambda: subprocess.run([SCRIPT], env=environ, check=False).returncode


@pytest.fixture
def done(run: Callable[[], int], place: Path, flask: Callable[..., Result]) -> Done:
    """Return a function that runs the script and returns its calls of certbot."""

    def done() -> list[str]:
        (place / "listed").write_text(flask("domains", "list", "--json").stdout)
        (place / "told").write_text("")
        assert run() == 0
        told = (place / "told").read_text().splitlines()
        return [re.sub(" .*--cert-name", "", line) for line in told]

    return done


def names(place: Path) -> set[str]:
    return {each.name for each in (place / "live").iterdir()}


def test_verified_domains_get_certificates_once(
    done: Done, place: Path, project: Project, shop: Domain, own: Own
):
    own(project, OTHER)
    Domain.add(project, "new.example.org")
    assert len(done()) == 2
    assert names(place) == {f"petstore-{NAME}", f"petstore-{OTHER}"}
    assert done() == []


def test_proxy_may_read_each_certificate_and_what_renews_it(
    done: Done, place: Path, shop: Domain
):
    done()
    asked = shlex.split((place / "told").read_text())
    assert Path(asked[asked.index("-w") + 1]).is_dir()
    assert asked[asked.index("--deploy-hook") + 1] == str(HOOK)
    assert os.access(HOOK, os.X_OK)


def test_certificates_of_domains_that_are_gone_are_deleted(
    done: Done, place: Path, project: Project, shop: Domain, own: Own
):
    own(project, OTHER)
    done()
    shop.remove()
    assert done() == [f"delete petstore-{NAME}"]
    assert names(place) == {f"petstore-{OTHER}"}
    assert done() == []


def test_other_certificates_are_kept(done: Done, place: Path, app: Flask):
    (place / "live" / BASE).mkdir()
    (place / "live" / "README").touch()
    assert done() == []


def test_certificate_is_kept_as_long_as_one_project_owns_the_domain(
    done: Done, project: Project, shop: Domain, rival: Project, own: Own
):
    done()
    shop.remove()
    own(rival, NAME)
    Domain.add(project, NAME)
    assert done() == []


def test_certificate_of_a_misdirected_domain_is_kept_until_it_expires(
    done: Done, project: Project, shop: Domain, own: Own, clock: Clock
):
    done()
    for domain in (shop, own(project, OTHER)):
        domain.record(DnsResult(False, "elsewhere"))
    clock.move(days=29)
    assert done() == []
    clock.move(days=1)
    assert done() == [f"delete petstore-{NAME}"]


def test_downgrade_deletes_no_certificate(done: Done, project: Project, shop: Domain):
    done()
    project.change_plan(Plan("free"))
    assert done() == []


def test_failed_certificate_is_asked_for_again_after_an_hour(
    done: Done, place: Path, shop: Domain
):
    (place / "fails").touch()
    assert len(done()) == 1
    (place / "fails").unlink()
    assert done() == []
    tried = place / "state" / NAME
    os.utime(tried, (tried.stat().st_mtime - 3600,) * 2)
    assert len(done()) == 1
    assert not tried.exists()


def test_nothing_is_done_while_the_service_fails(
    done: Done,
    app: Flask,
    project: Project,
    shop: Domain,
    own: Own,
    monkeypatch: pytest.MonkeyPatch,
):
    done()
    shop.remove()
    own(project, OTHER)
    monkeypatch.setitem(app.view_functions, "tls.tls_allowed", lambda: 1 / 0)
    assert done() == []


def test_nothing_is_done_without_the_list_of_this_database(
    done: Done, run: Callable[[], int], place: Path, shop: Domain
):
    done()
    (place / "told").write_text("")
    (place / "listed").write_text("[]")  # of another one
    assert run() == 0
    (place / "listed").unlink()
    assert run() == 1
    assert (place / "told").read_text() == ""
