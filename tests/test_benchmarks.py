"""The benchmarks take the options with which docs/performance.md calls them."""

import re
import shlex
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import cost
from tests.harness.servers import ROOT

PAGE = (ROOT / "docs" / "performance.md").read_text()
COMMANDS = re.findall(
    r"^\.venv/bin/python -m (benchmarks\.[^#\n]+)", PAGE, re.MULTILINE
)


class HasBegun(Exception):
    """The options were accepted, and the first server would start."""


def begin(store: str) -> None:
    raise HasBegun


@pytest.mark.parametrize("command", COMMANDS)
def test_documented_options_are_accepted(monkeypatch: pytest.MonkeyPatch, command: str):
    name, *options = shlex.split(command)
    benchmark = import_module(name)
    monkeypatch.setattr(sys, "argv", [name, *options])
    monkeypatch.setattr(benchmark, "stage", begin)
    with pytest.raises(HasBegun):
        benchmark.main()


def test_renewed_cell_leaves_the_rest_of_the_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    before = cost.read(cost.COMMITTED)
    monkeypatch.setattr(cost, "COMMITTED", tmp_path / "cost.md")
    cost.write(before)
    cost.write({("sqlite", "get"): {"instructions": 1.0}})
    assert cost.read(cost.COMMITTED) == before | {
        ("sqlite", "get"): before["sqlite", "get"] | {"instructions": 1.0}
    }
    assert cost.COMMITTED.read_text().count("| instructions |") == 2


BY_HAND = "get by hand, gevent"


@pytest.mark.parametrize(
    ("thousands", "by_hand", "is_dear"),
    [(1010, 1011, False), (1011, 2000, True), (1001, 1000, True)],
)
def test_request_is_as_cheap_as_was_agreed_and_as_by_hand(
    thousands: int, by_hand: int, is_dear: bool
):
    found = {
        ("sqlite", "get"): {"instructions": thousands},
        ("sqlite", BY_HAND): {"instructions": by_hand},
    }
    assert bool(list(cost.above(found, {}))) is is_dear
