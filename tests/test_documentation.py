"""Each command that the documentation prints is run by a test."""

import re
from pathlib import Path

from tests.harness.documents import commands_below
from tests.harness.servers import ROOT

README, DOCS = ROOT / "README.md", sorted(ROOT.glob("docs/*.md"))
PAGES = [README, ROOT / "SECURITY.md", ROOT / "tests" / "README.md", *DOCS]
# A test of each of these runs all blocks of the page.
WHOLE = {"docs/api.md": "test_api_page.py", "docs/performance.md": "test_benchmarks.py"}
# test_upgrade.py and test_image.py do what these commands do, in other places.
OTHERWISE = {
    ("docs/operating.md", "Upgrade and rollback"),
    ("docs/operating.md", "In a container"),
}
TESTS = {file.name: file.read_text() for file in ROOT.glob("tests/**/test_*.py")}


def test_each_printed_command_is_run_by_a_test():
    """Or names targets of the Makefile alone, which test_promises.py looks up."""
    for page in PAGES:
        name = str(page.relative_to(ROOT))
        for heading in re.findall("^#+ (.*)$", page.read_text(), re.MULTILINE):
            for block in commands_below(name, heading):
                is_made = all(line[:5] == "make " for line in block.splitlines())
                is_known = is_made or (name, heading) in OTHERWISE
                assert is_known or is_run(name, heading), block


def is_run(page: str, heading: str) -> bool:
    """Return whether a test takes the commands below a heading of a page."""
    if page in WHOLE:
        return Path(page).name in TESTS[WHOLE[page]]
    return any(
        "commands_below(" in test and page.removeprefix("docs/") in test
        for test in TESTS.values()
        if f'"{heading}"' in test
    )
