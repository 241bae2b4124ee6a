"""The checklists are whole, and the tests that they cite exist."""

import pytest

from tests.marks import api_top_10, asvs
from tests.marks.checklists import CITED, STATES, Row, missing_tests

ROWS = {"asvs": asvs.rows(), "api_top_10": api_top_10.rows()}
each_checklist = pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)


def test_each_requirement_of_levels_1_and_2_stands_in_one_row():
    told = [number for row in asvs.rows() for number in asvs.numbers_of(row)]
    assert sorted(told) == sorted(asvs.numbers())
    assert len(told) == 253


def test_each_of_the_ten_risks_stands_in_one_row():
    risks = [row.number.split()[0] for row in api_top_10.rows()]
    assert risks == [f"API{number}" for number in range(1, 11)]


@each_checklist
def test_each_row_has_a_known_state_and_says_what_shows_it_or_why(rows: list[Row]):
    for row in rows:
        assert row.state in STATES, row
        reason = CITED.sub("", row.shown).strip(" .")
        assert row.asked, row
        assert CITED.search(row.shown) if row.state == "test" else reason, row


@each_checklist
def test_each_cited_test_exists(rows: list[Row]):
    assert missing_tests(rows) == []
    assert missing_tests([rows[0]._replace(shown="`tests/test_x.py::test_x`")])


def test_requirements_are_told_in_few_words():
    assert all(len(row.asked.split()) <= 12 for row in asvs.rows())
