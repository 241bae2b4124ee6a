"""Bugs that are planted to see whether the rules find them; they are in bugs.diff."""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]


class Bug(NamedTuple):
    """A change of the source, and the rule that it breaks."""

    name: str
    file: str  # from the project's root
    rule: str  # how its line begins
    old: str
    new: str


def _read(text: str) -> Bug:
    name, where, *lines = text.strip("\n").split("\n")
    module, _, rule = where.partition(": ")
    file = f"{module.replace('.', '/')}.py"
    if not (ROOT / file).exists():
        file = file.replace(".py", "/__init__.py")
    old, new = ("\n".join(x[1:] for x in lines if x[0] == mark) for mark in "-+")
    return Bug(name, file, rule, old, new)


_TEXT = "\n" + Path(__file__).with_name("bugs.diff").read_text()
BUGS = tuple(map(_read, _TEXT.split("\n# ")[1:]))
