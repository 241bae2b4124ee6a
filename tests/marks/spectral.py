"""Spectral's rules for OpenAPI, and for OWASP's API Top 10."""

from tests.harness.linters import PACKAGES, left_out
from tests.marks.linting import linted
from tests.marks.page import Mark

CLI = "@stoplight/spectral-cli"
OWASP = "@stoplight/spectral-owasp-ruleset"


def mark() -> Mark:
    """Lint the interface description with both sets of rules."""
    return Mark(
        checked="`/openapi.json`, by `spectral:oas` and the OWASP rules",
        tool=f"{CLI} {PACKAGES[CLI]}, {OWASP} {PACKAGES[OWASP]}",
        result=f"{linted('spectral')}, {len(left_out())} [rules](api.md#linters) off",
    )
