"""The documentation stays short, and says each thing once."""

import re
from pathlib import Path

from tests.harness.servers import ROOT

README, DOCS = ROOT / "README.md", sorted(ROOT.glob("docs/*.md"))
PAGES = [README, ROOT / "SECURITY.md", ROOT / "tests" / "README.md", *DOCS]
CODE_BLOCK = re.compile("^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
WORDS_IN_ALL, LINES_OF_README = 14_000, 90
REPEATED = 10  # words in a row are no accident


def test_pages_stay_short():
    assert sum(len(page.read_text().split()) for page in DOCS) <= WORDS_IN_ALL
    assert len(README.read_text().splitlines()) <= LINES_OF_README


def test_no_page_repeats_another():
    said: dict[tuple[str, ...], Path] = {}
    for page in PAGES:
        words = re.findall(r"[\w'./-]+", CODE_BLOCK.sub("", page.read_text()))
        for number in range(len(words) - REPEATED + 1):
            run = tuple(words[number : number + REPEATED])
            assert said.setdefault(run, page) == page, " ".join(run)
