"""Extensions are deleted in a copy, as docs/recipes.md says."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.harness.servers import ROOT


def copy_without(names: Iterable[str], copy: Path, *beside: str) -> None:
    """Copy the service, and what is named beside it, without some extensions."""
    ignored = shutil.ignore_patterns("__pycache__")
    for path in (ROOT / name for name in ("petstore", *beside)):
        if path.is_dir():
            shutil.copytree(path, copy / path.name, ignore=ignored)
        else:
            shutil.copy(path, copy)
    listed = copy / "petstore/extensions/__init__.py"
    for name in names:
        shutil.rmtree(copy / "petstore/extensions" / name)
        shutil.rmtree(copy / "tests/extensions" / name, ignore_errors=True)
        word = (
            rf'^    (?:"{name}"|{name.upper()}): Extension\((?:[^()]|\([^()]*\))*\),\n'
        )
        _cut(word, listed)
        for file in ("settings.py", "timeouts.py"):
            _cut(rf"^ *# Of the extension {name}\b.*?\n\n", copy / "petstore" / file)


def _cut(pattern: str, path: Path) -> None:
    flags = re.MULTILINE | re.DOTALL
    path.write_text(re.sub(pattern, "", path.read_text(), flags=flags))
