"""The recommended rules of Redocly."""

from tests.harness.linters import PACKAGES
from tests.marks.linting import linted
from tests.marks.page import Mark

CLI = "@redocly/cli"


def mark() -> Mark:
    """Lint the interface description with the recommended rules."""
    return Mark(
        checked="`/openapi.json`, by the recommended rules",
        tool=f"{CLI} {PACKAGES[CLI]}",
        result=linted("redocly"),
    )
