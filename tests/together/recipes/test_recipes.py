"""A service to which all recipes of docs/recipes.md were applied does what they say."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

from tests.harness.servers import ROOT

TESTS = Path(__file__).with_name("changed_service.py")
CONFIGURATION = ("wsgi.py", "gunicorn.conf.py", "ruff.toml", "setup.cfg")
CHECKS = (("ruff", "format", "--check"), ("ruff", "check"), ("mypy",))  # `make lint`
PAGE = (ROOT / "docs" / "recipes.md").read_text()
CREATE, CHANGE = re.compile("Create `([^`]+)`"), re.compile("In `([^`]+)`")
ADD, REPLACE = re.compile("After `([^`]+)`, add:"), re.compile("Replace `([^`]+)` by:")
BLOCK = re.compile("(.*?)```[a-z]+\\n(.*?)```", re.DOTALL)


def test_recipes_do_what_they_say(unmigrated_url: str, tmp_path: Path):
    shutil.copytree(ROOT / "petstore", tmp_path / "petstore")
    for name in re.findall("^## (.+)$", PAGE, re.MULTILINE):
        apply(name, tmp_path)
    for file in map(ROOT.joinpath, CONFIGURATION):
        shutil.copy(file, tmp_path)
    settings = {"DATABASE_URL": unmigrated_url, "PETSTORE_TITLE": "Paws"}
    for check in CHECKS:  # before the tests, whose style may differ, are there
        run(tmp_path, {}, *check)
    shutil.copy(TESTS, tmp_path)
    run(tmp_path, settings, "pytest", "-q", TESTS.name)


def run(copy: Path, settings: dict[str, str], *command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=copy,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def apply(name: str, copy: Path) -> None:
    """Carry out each step of a recipe, in order."""
    recipe = PAGE.partition(f"## {name}\n")[2].partition("\n## ")[0]
    file = copy
    for words, block in BLOCK.findall(recipe):
        if created := CREATE.search(words):
            (copy / created[1]).parent.mkdir(exist_ok=True)
            (copy / created[1]).write_text(block)
            continue
        if changed := CHANGE.search(words):
            file = copy / changed[1]
        if after := ADD.search(words):
            change(file, after[1], block, keep=True)
        elif replaced := REPLACE.search(words):
            change(file, replaced[1], block, keep=False)
        else:
            raise AssertionError(f"{name}: no step in {words!r}")


def change(file: Path, line: str, block: str, *, keep: bool) -> None:
    """Add a block behind the only line with that text, or put it in its place."""
    lines = file.read_text().splitlines(keepends=True)
    [place] = [n for n, each in enumerate(lines) if each.strip() == line]
    margin = re.match(" *", lines[place])[0]
    # What follows an opening bracket belongs inside it.
    inside = "    " if keep and line.endswith(("{", "(", "[")) else ""
    lines[place + keep : place + 1] = [indent(block, margin + inside)]
    file.write_text("".join(lines))
