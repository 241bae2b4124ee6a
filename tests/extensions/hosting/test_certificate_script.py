"""deploy/certificates.sh: there is a certificate for each domain that is listed."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore.extensions.hosting.models import DnsResult, Domain
from petstore.models.projects import Plan, Project
from tests.extensions.hosting.fixtures import BASE, NAME, Own
from tests.harness.clocks import Clock
from tests.harness.servers import ROOT

OTHER = "other.example.org"
SCRIPT = ROOT / "deploy" / "certificates.sh"
# Stand-ins in a directory of the test. certbot records its calls, and makes or deletes
# certificates, or fails while there is a file `fails`; flask and curl answer with what
# the commands and the service have answered before.
STAND_INS = Path(__file__).with_name("stand_ins")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with certificates and the stand-ins."""
    (tmp_path / "live").mkdir()
    for program in STAND_INS.iterdir():
        shutil.copy(program, tmp_path)
        (tmp_path / program.name).chmod(0o755)
    return tmp_path


@pytest.fixture
def run(place: Path) -> Callable[[], list[str]]:
    """Return a function that runs the script on what is there; its calls of certbot."""
    environ = os.environ | {"PATH": f"{place}:{os.environ['PATH']}"}
    environ |= {"CERTBOT_LIVE": f"{place}/live", "ACME_WEBROOT": f"{place}/acme"}
    environ |= {"STATE_DIRECTORY": f"{place}/state"}

    def run(status: int = 0) -> list[str]:
        (place / "told").write_text("")
        assert subprocess.run([SCRIPT], env=environ, check=False).returncode == status
        told = (place / "told").read_text().splitlines()
        return [re.sub(" .*--cert-name", "", line) for line in told]

    return run


@pytest.fixture
def done(
    run: Callable, place: Path, flask: Callable, stranger: FlaskClient
) -> Callable[[], list[str]]:
    """Return a function that runs the script on what the service says now."""

    def done() -> list[str]:
        listed = flask("domains", "list", "--json").stdout
        (place / "listed").write_text(listed)
        names = {domain["name"] for domain in json.loads(listed)} | {NAME, OTHER}
        with (place / "answers").open("w") as answers:
            for name in names:
                path = f"/internal/tls-allowed?domain={name}"
                print(name, stranger.get(path).status_code, file=answers)
        return run()

    return done


def test_verified_domains_get_certificates_once(
    done: Callable, place: Path, project: Project, shop: Domain, own: Own
):
    own(project, OTHER)
    Domain.add(project, "new.example.org")
    (place / "live" / BASE).mkdir()  # which is not of the script
    assert len(done()) == 2
    names = {each.name for each in (place / "live").iterdir()}
    assert names == {f"petstore-{NAME}", f"petstore-{OTHER}", BASE}
    asked = shlex.split((place / "told").read_text())
    assert Path(asked[asked.index("-w") + 1]).is_dir()
    assert os.access(asked[asked.index("--deploy-hook") + 1], os.X_OK)
    assert done() == []


def test_certificates_are_deleted_when_no_project_owns_the_domain_any_more(
    done: Callable, project: Project, shop: Domain, rival: Project, own: Own
):
    own(project, OTHER)
    done()
    shop.remove()
    theirs = own(rival, NAME)
    Domain.add(project, NAME)
    assert done() == []
    theirs.remove()
    assert done() == [f"delete petstore-{NAME}"]
    assert done() == []


def test_certificate_outlives_a_mistake_in_dns_and_a_smaller_plan(
    done: Callable, project: Project, shop: Domain, own: Own, clock: Clock
):
    done()
    for domain in (shop, own(project, OTHER)):
        domain.record(DnsResult(False, "elsewhere"))
    clock.move(days=29)
    assert done() == []
    project.change_plan(Plan("free"))
    assert done() == []
    project.change_plan(Plan("pro"))
    clock.move(days=1)
    assert done() == [f"delete petstore-{NAME}"]


def test_failed_certificate_is_tried_hourly(done: Callable, place: Path, shop: Domain):
    (place / "fails").touch()
    assert len(done()) == 1
    (place / "fails").unlink()
    assert done() == []
    tried = place / "state" / NAME
    os.utime(tried, (tried.stat().st_mtime - 3600,) * 2)
    assert len(done()) == 1
    assert not tried.exists()


def test_nothing_is_done_while_the_service_fails_or_for_another_database(
    done: Callable, run: Callable, place: Path, project: Project, shop: Domain, own: Own
):
    done()
    (place / "listed").write_text("[]")  # of another one
    assert run() == []
    shop.remove()
    own(project, OTHER)
    (place / "listed").unlink()
    assert run(status=1) == []
    (place / "answers").write_text(f"{NAME} 500\n{OTHER} 500\n")
    (place / "listed").write_text(f'[{{"name":"{OTHER}","state":"verified"}}]')
    assert run() == []
