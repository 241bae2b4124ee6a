"""The script of docs/moving.md keeps a list in step, and costs what the page says."""

import runpy
import subprocess
import sys
import time
from math import ceil
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask
from werkzeug.serving import make_server

from petstore.models.pets import Pet
from petstore.models.plans import PLANS, Quota
from petstore.models.projects import Plan, Project
from tests.harness.clocks import Clock
from tests.harness.documents import rows_of
from tests.harness.listening import listening
from tests.harness.servers import ROOT

HEAD = "number,name,categoryId,status\n"
ANIMALS = [f"A {n},Pet {n},{n % 3},sold\n" for n in range(120)]
NOWHERE = "http://127.0.0.1:1/v1"
REQUESTS = (1 + 1_000, 1 + 9_000, 90 + 50)  # pages, and changes


def test_list_is_kept_in_step_within_the_limits_of_the_free_plan(
    app: Flask,
    project: Project,
    key: str,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    project.change_plan(Plan("free"))
    server, files = make_server("127.0.0.1", 0, app), [tmp_path / "x", tmp_path / "ids"]
    waits: list[int] = []
    times = SimpleNamespace(**vars(time))  # others sleep, too
    times.sleep = lambda x: waits.append(x) or clock.move(seconds=x)
    monkeypatch.setattr(sys, "argv", ["", *map(str, files)])
    monkeypatch.setenv("API", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("KEY", key)

    def run(*lines: str) -> object:
        files[0].write_text(HEAD + "".join(lines))
        waits.clear()
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "time", times)
            with pytest.raises(SystemExit) as end:
                runpy.run_path(str(ROOT / "docs/nightly.py"))
        return end.value.code

    with listening(server):
        assert run(*ANIMALS) == 0
        assert waits == [50, 60]  # for 1 + 120 requests
        ids = files[1].read_text()
        files[1].write_text(ids.removesuffix("A 119,120\n"))  # it was lost
        clock.move(seconds=60)
        assert run(*ANIMALS[1:100], ANIMALS[119], "A 0,Max,7,\n", "B,Luna,7,\n") == 0
        assert waits == []  # for 2 pages, 2 new ones, 1 correction, 19 deletions
        assert files[1].read_text() == f"{ids}B,121\n"
        assert "52 animals are missing" in str(run(*ANIMALS[:50]))
        assert "name: must have a character" in str(run("A 0, ,7,\n", *ANIMALS[1:100]))
    first, *others = Pet.page(project.id, after=0, limit=200)
    assert first == (1, "Max", 7, "sold")
    assert [pet.id for pet in others] == [*range(2, 101)]


@pytest.mark.parametrize(
    ("api", "text", "line"),
    [
        ("", HEAD, "set API to https://.../v1 and KEY, and name the files "),
        (f"{NOWHERE}/", HEAD, "set API to https://.../v1 and KEY"),
        (NOWHERE, "", "list: the first line must be number,name,"),
        (NOWHERE, HEAD.replace(",", ";"), "list: the first line must be number,name,"),
        (NOWHERE, f"{HEAD}A,Max,Cats,\n", "line 2: categoryId is a number like 7"),
        (NOWHERE, f"{HEAD}A,Max,7,\nA,Tom,7,\n", "line 3: each animal needs a number"),
        (NOWHERE, f"{HEAD}A,K\xe4the,7,\n", "must be CSV in UTF-8: 'utf-8' codec"),
        (NOWHERE, HEAD, "refused>; run it again when that is mended"),
    ],
)
def test_what_people_get_wrong_is_one_line(
    tmp_path: Path, api: str, text: str, line: str
):
    (tmp_path / "list").write_text(text, encoding="latin-1")
    command = [sys.executable, ROOT / "docs/nightly.py", "list", "ids"]
    options = {"env": {"API": api, "KEY": "pet_x"}, "cwd": tmp_path, "text": True}
    ended = subprocess.run(command, **options, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    [said] = ended.stderr.splitlines()
    assert line in said


def test_table_says_what_it_costs():
    for name, *cells in rows_of("moving.md", "By the API, every night"):
        quota = PLANS[name.lower()].quota
        assert cells == [costs(requests, quota) for requests in REQUESTS]


def costs(requests: int, quota: Quota) -> str:
    days = ceil(requests / quota.per_day)
    return f"{days} days" if days > 1 else f"{ceil(requests / quota.per_minute)} min"
