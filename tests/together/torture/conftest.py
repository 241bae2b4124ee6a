"""What the campaigns share: how often they repeat their faults, and the dice."""

import os
import random

import pytest

TIMES = int(os.environ.get("TIMES", "1"))
SEED = os.environ.get("SEED", "1")


@pytest.fixture
def dice(request: pytest.FixtureRequest) -> random.Random:
    """The dice of a campaign, which fall alike with the same variable SEED."""
    return random.Random(f"{SEED} {request.node.name}")
