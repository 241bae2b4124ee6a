"""Where the documentation leads, there is something, in every fresh clone."""

import re
from pathlib import Path

import pytest

from tests.harness.servers import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
# What is printed is run now. The changelog tells of the past, and a recipe makes files.
PRINTED = [page for page in PAGES if page.name not in ("CHANGELOG.md", "recipes.md")]
PRINTED += [page for page in ROOT.glob("deploy/*") if page.suffix != ".json"]
CODE_BLOCK = re.compile("^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(
    r"(?<![\w./$-])(?:/opt/petstore/|\./)?"
    r"((?:\.ci|benchmarks|deploy|docs|petstore|tests)/[\w./*-]*[\w/*])"
)
HOST = re.compile(r"(?:https?://|(?<![\w@.]))((?:[a-z0-9-]+\.)+(?:org|com|net|io))\b")
FORMATS = {"jsonfeed.org"}  # an address there names a format
TAG = re.compile(r"\bv\d+\.\d+\.\d+|--branch|git tag|--tags")
MADE = ("deploy/.env", "petstore/backups")  # by a command or a service


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


@pytest.mark.parametrize("page", PRINTED, ids=lambda page: page.name)
def test_printed_paths_exist_and_no_tag_or_repository_is_needed(page: Path):
    printed = page.read_text()
    for path in PATH.findall(printed):
        assert path in MADE or [*ROOT.glob(path)], path
    assert not TAG.search(printed)
    assert set(re.findall(r"git clone (?:-\S+ )*(\S+)", printed)) <= {"REPOSITORY"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_hosts_in_commands_are_placeholders_that_the_text_explains(page: Path):
    for code in CODE_BLOCK.findall(page.read_text()):
        for host in {*HOST.findall(code)} - FORMATS:
            assert ".example." in f".{host}", host
            assert f"`{host}`" in text_of(page), host
