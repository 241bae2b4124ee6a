"""Run fault campaigns: `make torture`, or `python -m tests.torture --seed 7 NAME …`.

Each campaign prints a line with its results; the exit code is 1 if a promise was
broken. All servers are started on loopback. The campaigns take a little over an hour,
or some minutes with `--short`, which runs a few trials of each.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.harness.campaign import Campaign, Run
from tests.torture.campaigns import CAMPAIGNS


def main() -> int:
    """Run the named campaigns, or all, and return the exit code."""
    names = [campaign.name for campaign in CAMPAIGNS]
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--trials", type=int, help="instead of each one's own")
    arguments.add_argument("--short", action="store_true", help="a few trials of each")
    arguments.add_argument("names", nargs="*", metavar="NAME")
    chosen = arguments.parse_args()
    if unknown := set(chosen.names) - set(names):
        arguments.error(f"no campaign is named {unknown.pop()}; there are {names}")
    runs = [
        _played(campaign, chosen)
        for campaign in CAMPAIGNS
        if campaign.name in (chosen.names or names)
    ]
    return not all(run.is_good for run in runs)


def _played(campaign: Campaign, chosen: argparse.Namespace) -> Run:
    own_trials = campaign.trials_when_short if chosen.short else campaign.trials
    trials = chosen.trials or own_trials
    dice = random.Random(f"{chosen.seed} {campaign.name}")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="petstore-torture-") as directory:
        run = Run(trials, dice, Path(directory), chosen.short)
        try:
            campaign.play(run)
        except AssertionError as error:
            run.faults.append(str(error))
    figures = "  ".join(f"{name} {value:g}" for name, value in run.figures.items())
    print(
        f"{campaign.name:24} {run.done:7,} trials  {len(run.faults)} faults"
        f"  {run.lost} lost  {run.duplicated} duplicated"
        f"  {time.monotonic() - started:5.0f} s  {figures}",
        flush=True,
    )
    for fault in run.faults[:10]:
        print(f"    {fault}")
    return run


if __name__ == "__main__":
    sys.exit(main())
