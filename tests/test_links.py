"""Links and file names in the documentation lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.harness.servers import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
CODE_BLOCK = re.compile("^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"`((?:[\w-]+/)*[\w.-]+\.(?:py|txt)|(?:[\w-]+/)+|deploy/[\w.-]+)`")
CREATED = re.compile("Create `[^`]+`")  # by a reader of docs/recipes.md
PLACES = (ROOT, ROOT / "petstore")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text_of(page: Path) -> str:
    """Return the text of a page without its code blocks."""
    return CREATED.sub("", CODE_BLOCK.sub("", page.read_text()))


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of the headings, as hosting sites generate them."""
    headings = re.findall("^#+ (.*)$", text_of(page), re.MULTILINE)
    plain = (re.sub(r"[^\w -]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@each_page
def test_relative_links_point_to_existing_files_and_headings(page: Path):
    for link in LINK.findall(text_of(page)):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), link
            assert not anchor or anchor in anchors_of(target), link


@each_page
def test_named_files_exist(page: Path):
    for name in FILE.findall(text_of(page)):
        assert any((place / name).exists() for place in PLACES), name
