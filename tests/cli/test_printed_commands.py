"""The commands that docs/operating.md prints for a shell, beside those of its steps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from petstore import clock
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.documents import commands_below
from tests.harness.servers import ROOT

NEVER_USED, _ = commands_below("docs/operating.md", "Commands")
[MOVE] = commands_below("docs/operating.md", "Moving to PostgreSQL")
TARGET = "postgresql://petstore@db.example.org/petstore"


def shell(commands: str, url: str) -> list[str]:
    """Run commands with `flask` on the PATH; return the lines of their output."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", commands],
        cwd=ROOT,
        env=os.environ | {"PATH": path, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_keys_that_were_never_used_are_listed(project: Project, database_url: str):
    used, unused = (Key.issue(project)[:16] for _ in range(2))
    Key.update(last_used_ms=clock.now_ms()).where(Key.prefix == used).execute()
    assert shell(NEVER_USED, database_url) == [unused]


@pytest.mark.parametrize("unmigrated_url", ["postgresql"], indirect=True)
def test_projects_move(project: Project, database_url: str, unmigrated_url: str):
    move = MOVE.replace(TARGET, f"'{unmigrated_url}'").replace("cat password", "echo x")
    assert shell(move, database_url) == []
    moved = shell("flask projects list", unmigrated_url)
    assert [line.split()[0] for line in moved[1:]] == [project.slug]
