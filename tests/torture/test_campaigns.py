"""The campaigns are those that the documentation tells the results of."""

import random
from pathlib import Path

import pytest

from tests.harness.campaign import Run
from tests.harness.documents import rows_of
from tests.torture import kills
from tests.torture.campaigns import CAMPAIGNS

KILLS = 4


def test_each_fault_campaign_is_documented():
    told = [row[0] for row in rows_of("reliability.md", "Results")]
    assert told == [campaign.name for campaign in CAMPAIGNS]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_killed_processes_lose_and_repeat_no_write(engine: str, tmp_path: Path):
    run = Run(KILLS, random.Random(engine), tmp_path)
    kills.play(run, engine)
    assert run.is_good, run
