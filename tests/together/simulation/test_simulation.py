"""The simulation breaks no promise, and can be had again."""

import subprocess
import sys

import pytest

from tests.together.simulation.bugs import BUGS, ROOT, Bug


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    # A process of its own, with its own order of sets: the simulation replaces clocks,
    # dice and gevent's loop.
    command = [sys.executable, "-m", "tests.together.simulation", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_no_seed_breaks_a_promise():
    played, again = simulate("10", "--digests"), simulate("2", "--digests")
    assert played.returncode == 0, played.stdout + played.stderr
    # A seed has the same trace each time.
    first, second = (run.stdout.splitlines()[:2] for run in (played, again))
    assert first == second
    assert len({line.split()[1] for line in first}) == 2


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_can_still_be_planted(bug: Bug):
    assert (ROOT / bug.file).read_text().count(bug.old) == 1
