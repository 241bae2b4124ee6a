"""Links and file names in the documents lead to something that is there."""

import re
from pathlib import Path

import pytest

from tests.servers import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
CODE_BLOCK = re.compile("^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"`((?:[\w-]+/)*[\w.-]+\.(?:py|txt)|(?:[\w-]+/)+|deploy/[\w.-]+)`")
PLACES = (ROOT, ROOT / "petstore")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text_of(page: Path) -> str:
    """What people read of a page, without examples."""
    return CODE_BLOCK.sub("", page.read_text())


def anchors_of(page: Path) -> set[str]:
    """The anchors of the headings, as hosting sites make them."""
    headings = re.findall("^#+ (.*)$", text_of(page), re.MULTILINE)
    plain = (re.sub(r"[^\w -]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@each_page
def test_a_relative_link_leads_to_a_file_and_a_heading(page: Path):
    for link in LINK.findall(text_of(page)):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), link
            assert not anchor or anchor in anchors_of(target), link


@each_page
def test_a_file_that_is_named_is_there(page: Path):
    for name in FILE.findall(text_of(page)):
        assert any((place / name).exists() for place in PLACES), name
