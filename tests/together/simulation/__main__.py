"""Run the simulation, as `make simulate SEEDS=1000` does.

python -m tests.together.simulation 120             seeds 0 to 119
python -m tests.together.simulation 500 --from 120  seeds 120 to 619
python -m tests.together.simulation --seed 7        one seed, with its trace
"""

import argparse
import os
import sys
from collections import Counter

from tests.together.simulation.linear import UNDECIDED
from tests.together.simulation.plan import Plan, plan_of
from tests.together.simulation.seeds import Isolated, opened

# What must have happened in a run of many seeds.
EXPECTED = (
    "failed commits, failed disk calls, counters_lost, counters_restored, replays, "
    "half-closes, graceful stops under load, kills under load, locked, clock steps, "
    "revocations, refusals by role, suspensions, "
    "refusals of a suspended project, unread responses, hits on redis, forms"
)
MOST_UNDECIDED = 0.002  # of all seeds
ENOUGH_SEEDS = 60  # for each of them to happen


def main() -> int:
    """Play seeds or one plan; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=120)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--digests", action="store_true", help="print those of seeds")
    chosen = parser.parse_args()
    with opened() as stage:
        if chosen.seed is None:
            return _play_all(stage, chosen)
        return _show(stage, plan_of(chosen.seed))


def _play_all(stage: Isolated, chosen: argparse.Namespace) -> int:
    counts: Counter[str] = Counter()
    started, requests, failed, seconds = os.times().elapsed, 0, 0, 0.0
    plans = map(plan_of, range(chosen.first, chosen.first + chosen.count))
    for outcome in stage.play_all(plans, chosen.processes):
        requests, seconds = requests + outcome.requests, seconds + outcome.seconds
        counts.update(name for name, count in outcome.counts.items() if count)
        if chosen.digests:
            print(outcome.plan.seed, outcome.digest)
        if outcome.faults:
            failed += 1
            print(f"seed {outcome.plan.seed}: {outcome.faults[0]}", flush=True)
    spent = os.times().elapsed - started
    print(
        f"{chosen.count} seeds, {failed} failed, {requests:,} requests, "
        f"{seconds:,.0f} simulated seconds in {spent:.0f} s"
    )
    expected = EXPECTED.split(", ")
    print("seeds with", ", ".join(f"{name}: {counts[name]}" for name in expected))
    never = [name for name in expected if not counts[name]]
    if chosen.count >= ENOUGH_SEEDS and never:
        print(f"never happened: {', '.join(never)}")
        return 1
    print(f"seeds with {UNDECIDED}: {counts[UNDECIDED]}")
    return bool(failed) or counts[UNDECIDED] > chosen.count * MOST_UNDECIDED


def _show(stage: Isolated, plan: Plan) -> int:
    outcome = stage.play(plan)
    for at, who, what in outcome.notes:
        print(f"{at - 1000:10.4f}  {who:12}  {what}")
    print(f"digest {outcome.digest}, {outcome.counts}")
    for fault in outcome.faults:
        print(f"BROKEN {fault}")
    return bool(outcome.faults)


if __name__ == "__main__":
    sys.exit(main())
