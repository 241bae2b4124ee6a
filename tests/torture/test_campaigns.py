"""The campaigns are those that the documentation tells the results of."""

import random
import re
import shlex
import sys
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

import pytest

from tests.harness.campaign import Run
from tests.harness.documents import code_in, commands_below, rows_of
from tests.torture import __main__, kills
from tests.torture.campaigns import CAMPAIGNS

PAGE, HEADING = "reliability.md", "Campaigns"
[BLOCK] = commands_below(f"docs/{PAGE}", HEADING)
KILLS = 4


def test_each_fault_campaign_is_documented():
    rows = rows_of(PAGE, HEADING)
    told = [name for row in rows for name in code_in(row[0])]
    found = [
        [name for name in told if fnmatchcase(campaign.name, name.replace("…", "*"))]
        for campaign in CAMPAIGNS
    ]
    assert [names for names, _ in groupby(found)] == [[name] for name in told]


class HasBegun(Exception):
    """The options were accepted, and the first campaign would run."""


def begin(*_: object) -> None:
    raise HasBegun


@pytest.mark.parametrize("options", re.findall("-m tests.torture (.*)", BLOCK))
def test_documented_options_are_accepted(monkeypatch: pytest.MonkeyPatch, options: str):
    monkeypatch.setattr(sys, "argv", ["torture", *shlex.split(options, comments=True)])
    monkeypatch.setattr(__main__, "_played", begin)
    with pytest.raises(HasBegun):
        __main__.main()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_killed_processes_lose_and_repeat_no_write(engine: str, tmp_path: Path):
    run = Run(KILLS, random.Random(engine), tmp_path)
    kills.play(run, engine)
    assert run.is_good, run
