"""Links in the documentation lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.harness.servers import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
CODE_BLOCK = re.compile("^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    """Return the text of a page without its code blocks."""
    return CODE_BLOCK.sub("", page.read_text())


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of the headings, as hosting sites generate them."""
    headings = re.findall("^#+ (.*)$", text_of(page), re.MULTILINE)
    plain = (re.sub(r"[^\w -]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_point_to_existing_files_and_headings(page: Path):
    for link in LINK.findall(text_of(page)):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), link
            assert not anchor or anchor in anchors_of(target), link
