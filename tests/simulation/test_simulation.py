"""The simulation breaks no promise, and can be had again."""

import math
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.simulation.bugs import BUGS, Bug
from tests.simulation.counts import count_requests
from tests.simulation.linear import Operation, contradiction

FOLDER = Path(__file__).parent


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    # A process of its own, with its own order of sets: the simulation replaces clocks,
    # dice and gevent's loop.
    command = [sys.executable, "-m", "tests.simulation", *arguments]
    return subprocess.run(
        command,
        cwd=FOLDER.parent.parent,
        capture_output=True,
        text=True,
        check=False,
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
    assert find_spec(bug.module).loader.get_source(bug.module).count(bug.old) == 1


def test_requests_are_explained_by_an_order_or_one_of_them_is_named():
    def found(*hits: tuple[float, float, int | None]) -> object:
        operations = [Operation(*when, (1, told), source=told) for *when, told in hits]
        return contradiction(operations, 0, partial(count_requests, 3))

    assert not found((0, 2, 2), (1, 3, 1))  # they overlap
    assert found((0, 1, 2), (2, 3, 1)).source == 2
    assert not found((0, 1, 1), (0, math.inf, None), (2, 3, 3))  # it has happened
    assert not found((0, 1, 1), (0, math.inf, None), (2, 3, 2))  # it has not
    assert found((0, 1, 1), (4, math.inf, None), (2, 3, 3)).source == 3
