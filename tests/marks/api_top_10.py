"""OWASP's ten risks of APIs, by the table in api_top_10.md."""

from tests.marks.checklists import Row, result_of, rows_in
from tests.marks.page import Mark

PAGE = "api_top_10.md"


def mark() -> Mark:
    """Count the risks in each state."""
    return Mark(
        checked="the ten risks of APIs",
        tool="OWASP API Security Top 10 of 2023, read by hand; a test checks the table",
        result=result_of(PAGE, [row.state for row in rows()]),
    )


def rows() -> list[Row]:
    """Return the rows of the table."""
    return rows_in(PAGE)
