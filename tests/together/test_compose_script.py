"""deploy/compose.sh: what README.md prints for a host with Docker, without Docker.

A program in the place of `docker` notes what it is told. The tests of compose.yaml and
of the image look at what it would run.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.documents import commands_below
from tests.harness.servers import ROOT
from tests.harness.shell import printed_by

START, UPGRADE = commands_below("README.md", "Serve a domain")
PLACE, ORIGIN = "/opt/petstore", "REPOSITORY"
DOCKER = Path(__file__).with_name("docker.sh")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the project is cloned to."""
    return tmp_path / "petstore"


@pytest.fixture
def shell(tmp_path: Path, place: Path) -> Callable[..., str]:
    """A function that runs printed commands, and returns what they print."""
    origin, programs = tmp_path / "origin", tmp_path / "programs"
    programs.mkdir()
    shutil.copy(DOCKER, programs / "docker")
    (programs / "docker").chmod(0o755)
    (origin / "deploy").mkdir(parents=True)
    for name in ("compose.sh", "compose.yaml"):
        shutil.copy(ROOT / "deploy" / name, origin / "deploy")
    (origin / ".gitignore").write_text((ROOT / ".gitignore").read_text())

    def shell(commands: str, status: int = 0, dump_fails: int = 0) -> str:
        environ = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}
        environ |= {"DUMP_FAILS": str(dump_fails), "TOLD": str(tmp_path / "told")}
        environ |= {f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")}
        environ |= {f"GIT_{who}_EMAIL": "a@b.c" for who in ("AUTHOR", "COMMITTER")}
        commands = commands.replace(PLACE, str(place)).replace(ORIGIN, str(origin))
        return printed_by(
            ["bash", "-eu", "-c", commands], status, cwd=origin, env=environ
        )

    shell("git init -q && git add --all && git commit -qm one")
    return shell


def environment(place: Path) -> dict[str, str]:
    lines = (place / "deploy" / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def commit(place: Path) -> str:
    return printed_by(["git", "-C", place, "rev-parse", "--short", "HEAD"]).strip()


def test_three_commands_lead_to_a_first_key(shell: Callable, place: Path):
    assert len(START.splitlines()) == 3
    assert shell(START).splitlines()[-1] == "pet_key"
    told = (place.parent / "told").read_text()
    assert "compose --file compose.yaml up --build --detach" in told
    given = environment(place)
    assert given["TAG"] == commit(place)
    assert given["PETSTORE_BASE_DOMAIN"] == "pets.example.org"
    passwords = {given["POSTGRES_PASSWORD"], given["REDIS_PASSWORD"]}
    assert [len(each) for each in passwords] == [48, 48]
    assert stat.S_IMODE((place / "deploy" / ".env").stat().st_mode) == 0o600
    shell(f"{PLACE}/deploy/compose.sh start")
    assert environment(place) == given


# It moves the lines of the script, while the one before is running.
NEWER = """
sed -i "1a # $(printf %5000d)" deploy/compose.sh && git commit -qam two
"""


def test_upgrade_backs_up_first_and_prints_the_way_back(shell: Callable, place: Path):
    shell(START)
    before = environment(place)
    shell(NEWER)
    shell(UPGRADE, status=1, dump_fails=1)
    shell(f"{PLACE}/deploy/compose.sh upgrade v9", status=2)
    shell(f"{PLACE}/deploy/compose.sh", status=2)
    assert environment(place) == before
    printed = shell(UPGRADE)
    assert environment(place)["TAG"] == commit(place) != before["TAG"]
    [dump] = (place / "deploy" / "backups").glob("*.dump")
    assert dump.read_text() == "dump\n"
    assert stat.S_IMODE(dump.stat().st_mode) == 0o600
    assert str(dump) in printed
    told = (place.parent / "told").read_text()
    steps = ["pg_dump", "pg_restore --file=/dev/null", "'last_backup'", "up --build"]
    assert re.search(".*".join(steps), told, re.DOTALL)
    [back] = re.findall("^  (.* upgrade .*)$", printed, re.MULTILINE)
    newest = commit(place)
    shell(back)
    assert environment(place)["TAG"] == commit(place) == before["TAG"]
    shell(UPGRADE)
    assert environment(place)["TAG"] == commit(place) == newest
