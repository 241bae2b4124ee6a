"""The short form of `make torture`: each fault a few times."""

import random
from pathlib import Path

import pytest

from tests.torture.campaign import Campaign, Run
from tests.torture.campaigns import CAMPAIGNS

SEED = 1


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda campaign: campaign.name)
def test_every_promise_is_kept_through(
    campaign: Campaign, postgresql_server: str, tmp_path: Path
):
    run = Run(campaign.trials_in_test, random.Random(SEED), tmp_path, postgresql_server)
    outcome = campaign.play(run)
    assert outcome.is_good, outcome
    assert outcome.trials >= campaign.trials_in_test
