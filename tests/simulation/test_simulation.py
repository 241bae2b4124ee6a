"""The simulation breaks no promise, and can be had again."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.simulation.bugs import BUGS, Bug

FOLDER = Path(__file__).parent


def simulate(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    # A process of its own: the simulation replaces clocks, dice and gevent's loop.
    command = [sys.executable, "-m", "tests.simulation", *arguments]
    return subprocess.run(
        command,
        env={**os.environ, **environ},
        cwd=FOLDER.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_seed_breaks_a_promise_and_each_fault_happens():
    run = simulate("120")
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_seed_has_the_same_trace_in_each_process():
    runs = [simulate("8", "--digests", PYTHONHASHSEED=seed) for seed in ("1", "2")]
    first, second = (run.stdout.splitlines()[:8] for run in runs)
    assert first == second
    assert len({line.split()[1] for line in first}) == 8


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_can_still_be_planted(bug: Bug):
    assert find_spec(bug.module).loader.get_source(bug.module).count(bug.old) == 1
