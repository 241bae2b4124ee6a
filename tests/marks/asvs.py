"""OWASP's Application Security Verification Standard, by the table in asvs.md."""

import csv

from tests.marks.checklists import PLACE, Row, result_of, rows_in
from tests.marks.page import Mark

PAGE = "asvs.md"
VERSION = "5.0.0"


def mark() -> Mark:
    """Count the requirements in each state."""
    states = [row.state for row in rows() for _ in numbers_of(row)]
    return Mark(
        checked=f"the {len(states)} requirements of levels 1 and 2",
        tool=f"OWASP ASVS {VERSION}, read by hand; a test checks the table",
        result=result_of(PAGE, states),
        changed="a key confirms what would shut a project out; "
        "Cross-Origin-Opener-Policy; ciphers of nginx; tests that were missing",
    )


def rows() -> list[Row]:
    """Return the rows of the table."""
    return rows_in(PAGE)


def numbers() -> list[str]:
    """Return the numbers of all requirements of levels 1 and 2."""
    with (PLACE / f"asvs-{VERSION}.csv").open() as file:
        return [line["number"] for line in csv.DictReader(file)]


def numbers_of(row: Row) -> list[str]:
    """Return the requirements that a row is about: one, or those of a section."""
    if row.number.count(".") == 2:
        return [row.number]
    return [each for each in numbers() if each.startswith(f"{row.number}.")]
