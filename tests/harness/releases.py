"""The releases in CHANGELOG.md, their commits, and the one before, which is installed.

Run as a program, it prints the commit of the release before: the newest one that is not
what lies here.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CHANGELOG = Path(__file__).parent.parent.parent / "CHANGELOG.md"
HEAD = re.compile(r"^## \[([^]]+)\](?: - (\S+))?$", re.MULTILINE)
# Where the Makefile installs the release before, with what it requires.
BEFORE = Path(sys.prefix) / "before"


class Section(NamedTuple):
    """A section of the changelog: of a release, or of what is unreleased."""

    name: str
    date: str
    text: str


def sections(changelog: str) -> list[Section]:
    """Return the sections of a changelog, newest first."""
    _, *parts = HEAD.split(changelog)
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return [Section(name, date or "", text.strip()) for name, date, text in triples]


def release_before(changelog: str) -> str:
    """Return the number of the newest release that is not what lies here."""
    unreleased, newest, *older = sections(changelog)
    return newest.name if unreleased.text else older[0].name


def commit_of(release: str) -> str:
    """Return the first commit whose changelog has the release, or nothing.

    The archive of a release has no history.
    """
    if not CHANGELOG.with_name(".git").exists():
        return ""
    search = f"-S## [{release}] - "
    return git("log", "--reverse", "--format=%H", search, "--", CHANGELOG).partition(
        "\n"
    )[0]


def git(*arguments: str | Path) -> str:
    """Run git in the repository, and return what it prints."""
    command = ["git", "-C", CHANGELOG.parent, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    print(commit_of(release_before(CHANGELOG.read_text())))
