"""The licences of all pinned packages, in licences.md beside this file.

`python -m tests.marks licences` writes the table from what the packages say themselves.
"""

import platform
import re
from importlib.metadata import Distribution, distribution
from pathlib import Path

from tests.harness.servers import ROOT
from tests.marks.page import Mark

PAGE = Path(__file__).with_name("licences.md")
PRODUCTION = "requirements.txt"
PLACES = {PRODUCTION: "production", "tests/requirements.txt": "the tests besides"}
HEAD = """\
# Licences

What the installed packages say of their licences; `python -m tests.marks licences`
writes this page.
"""
SHORT = 40  # a longer text is the licence itself
CLASSIFIER = "License :: OSI Approved :: "
MIT = "Permission is hereby granted, free of charge"
# Not the Lesser GPL: it asks nothing of a program that uses a library as it is.
GPL = re.compile(r"(?<!L)GPL|(?<!Lesser )General Public")
LESSER = re.compile("LGPL|Lesser General Public")
MPL = re.compile("MPL|Mozilla")


def mark() -> Mark:
    """Write the table, and count the packages of production by licence."""
    PAGE.write_text(page())
    rows = rows_of(PRODUCTION)
    assert not [row for row in rows if GPL.search(row[2])]
    shared = [name for name, _, licence in rows if MPL.search(licence)]
    lesser = [name for name, _, licence in rows if LESSER.search(licence)]
    return Mark(
        checked="the [licences](../tests/marks/licences.md) of all pinned packages",
        tool=f"Python {platform.python_version()}, `importlib.metadata`",
        result=f"{len(rows)} in production: none under a GPL, {len(shared)} under "
        f"the MPL 2.0 ({', '.join(shared)}), {len(lesser)} under the Lesser GPL "
        f"({', '.join(lesser)}), the others under permissive licences",
    )


def page() -> str:
    """Return the page, with a table for each file of requirements."""
    return HEAD + "".join(
        f"\n## Installed for {purpose}\n\n| Package | Version | Licence |\n"
        "| --- | --- | --- |\n"
        + "".join(f"| {' | '.join(row)} |\n" for row in rows_of(place))
        for place, purpose in PLACES.items()
    )


def rows_of(place: str) -> list[tuple[str, str, str]]:
    """Return name, version and licence of each package that a file pins."""
    pins = re.findall(r"^([^#\s]+)==(\S+)", (ROOT / place).read_text(), re.MULTILINE)
    return [(name, version, licence_of(distribution(name))) for name, version in pins]


def licence_of(package: Distribution) -> str:
    """Return the licence in the words of the package, or of its licence's text."""
    told = package.metadata
    for short in (told["License-Expression"], told["License"]):
        if short and len(short) <= SHORT:
            return short
    classifiers = told.get_all("Classifier") or []
    names = [each for each in classifiers if each.startswith(CLASSIFIER)]
    if names:
        return ", ".join(name.removeprefix(CLASSIFIER) for name in names)
    return licence_in(package)


def licence_in(package: Distribution) -> str:
    """Return the licence whose text is in the package."""
    text = package.read_text("licenses/LICENSE")
    assert text, package.name
    assert MIT in text, package.name
    return "MIT (by its text)"
