"""Reads docs/recipes.md, and applies a recipe to a copy of the service."""

import re
import shutil
from pathlib import Path
from textwrap import indent

from tests.harness.servers import ROOT

PAGE = ROOT / "docs" / "recipes.md"
CREATE, CHANGE = re.compile("Create `([^`]+)`"), re.compile("In `([^`]+)`")
ADD, REPLACE = re.compile("After `([^`]+)`, add:"), re.compile("Replace `([^`]+)` by:")
BLOCK = re.compile("(.*?)```[a-z]+\\n(.*?)```", re.DOTALL)


def names() -> list[str]:
    """Return the headings of the recipes."""
    return re.findall("^## (.+)$", PAGE.read_text(), re.MULTILINE)


def copy_of_the_service(directory: Path) -> Path:
    """Copy the package with its bytecode, so that only changed files are compiled."""
    shutil.copytree(ROOT / "petstore", directory / "petstore")
    return directory


def apply(name: str, copy: Path) -> None:
    """Carry out each step of a recipe, in order."""
    recipe = PAGE.read_text().partition(f"## {name}\n")[2].partition("\n## ")[0]
    file = copy
    for words, block in BLOCK.findall(recipe):
        if created := CREATE.search(words):
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
