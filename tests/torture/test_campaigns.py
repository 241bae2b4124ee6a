"""The campaigns are those that the documentation tells the results of."""

import random
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

import pytest

from tests.harness.campaign import Run
from tests.harness.documents import code_in, rows_of
from tests.torture import kills
from tests.torture.campaigns import CAMPAIGNS

KILLS = 4


def test_each_fault_campaign_is_documented():
    rows = rows_of("reliability.md", "Campaigns")
    told = [name for row in rows for name in code_in(row[0])]
    found = [
        [name for name in told if fnmatchcase(campaign.name, name.replace("…", "*"))]
        for campaign in CAMPAIGNS
    ]
    assert [names for names, _ in groupby(found)] == [[name] for name in told]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_killed_processes_lose_and_repeat_no_write(engine: str, tmp_path: Path):
    run = Run(KILLS, random.Random(engine), tmp_path)
    kills.play(run, engine)
    assert run.is_good, run
