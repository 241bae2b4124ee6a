"""The tables of requirements are whole, and the tests that they cite exist."""

import csv
import re
from pathlib import Path

import pytest

from tests.harness.servers import ROOT

PLACE = Path(__file__).parent
STATES = {"test", "design", "not met", "does not apply"}


def states_in(table: str) -> list[tuple[str, str]]:
    """Return the number and the state of each row of a page's tables."""
    row = r"^\| (?P<number>(?:API)?\d\S*).*? \| .*? \| (.*?) \|"
    return re.findall(row, (PLACE / table).read_text(), re.MULTILINE)


def test_each_requirement_of_levels_1_and_2_has_a_row_or_that_of_its_section():
    told = [number for number, _ in states_in("asvs.md")]
    assert len(told) == len(set(told))
    with (PLACE / "asvs-5.0.0.csv").open() as file:
        for line in csv.DictReader(file):
            number = line["number"]
            assert (number in told) != (number.rpartition(".")[0] in told), number


@pytest.mark.parametrize("table", ["asvs.md", "api_top_10.md"])
def test_each_row_has_a_known_state_and_each_cited_test_exists(table: str):
    assert {state for _, state in states_in(table)} <= STATES
    cited = set(re.findall(r"`(tests/[\w/]+\.py)", (PLACE / table).read_text()))
    assert [file for file in cited if not (ROOT / file).exists()] == []
