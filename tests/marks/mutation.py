"""Mutation testing: of how many changes of the code some test fails.

`python -m tests.marks.mutation --seed 2 --sample 500` tries another 500. Which tests
run a line is known from the last run of the mark `coverage`.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from coverage import CoverageData

from tests.harness.servers import ROOT
from tests.marks.coverage import DATA, DIRECTORY, LOG, measure
from tests.marks.mutants import Mutant, all_mutants, name_of
from tests.marks.page import Mark

REASONS = Path(__file__).with_name("mutants.md")
SEED, SAMPLE, PROCESSES = 1, 250, 2
# How long the tests for one mutant take without it. The first to fail is the last.
TEST_SECONDS, LONG_SECONDS = 45, 3
DIRECT = 1000  # lines that count for a test of the changed one
RUNNER = ["nice", "-n19", sys.executable, "-m", "pytest", "-p", "tests.marks.runner"]
MEMORY = Path("/dev/shm")
DURATION = re.compile(r"^([0-9.]+)s (?:setup|call|teardown) +(.+?) *$", re.MULTILINE)
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
IN_A_PROGRAM = re.compile(r" \((?:setup|call|teardown)\)$")
Tests = list[tuple[str, float]]


def mark() -> Mark:
    """Try a sample of the mutants, whose survivors have to be known."""
    mutants = list(all_mutants())
    results = try_mutants(sample(mutants, SEED, SAMPLE))
    return Mark(
        checked=f"{len(results)} of {len(mutants)} mutants of `api`, `models`,"
        " `quotas`, `server/request.py` and `storage/engines`",
        tool=f"mutmut {version('mutmut')}, run by `tests/marks/runner.py`",
        result=result_of(results),
    )


def sample(mutants: list[Mutant], seed: int, count: int) -> list[Mutant]:
    """Return so many of the mutants; a larger sample begins with a smaller one."""
    return random.Random(seed).sample(mutants, len(mutants))[:count]


def result_of(results: list[dict[str, Any]]) -> str:
    """Return what became of the mutants, and print those whose survival is new."""
    survivors = [each for each in results if not each["killer"]]
    reasons = REASONS.read_text()
    known = [each for each in survivors if f"`{each['name']}`" in reasons]
    for each in survivors:
        if each not in known:
            print(f"- {each['path']}: `{each['name']}`")
    killed = 100 * (len(results) - len(survivors)) / len(results)
    return (
        f"{killed:.1f} % killed; {len(survivors)} survived, of which {len(known)} have"
        " a [reason](../tests/marks/mutants.md)"
    )


class Selection:
    """Which tests run a line, by the data and the log of a run of all tests."""

    def __init__(self) -> None:
        if not DATA.exists():
            measure()
        self._data = CoverageData(str(DATA))
        self._data.read()
        log = LOG.read_text()
        self._seconds: dict[str, float] = defaultdict(float)
        for seconds, test in DURATION.findall(log):
            self._seconds[test] += float(seconds)
        self._passed = self._seconds.keys() - set(FAILED.findall(log))
        self._tests = Counter(map(_file, self._seconds))  # of each file
        self._contexts = cache(self._data.contexts_by_lineno)

    def tests_of(self, mutant: Mutant) -> Tests:
        """Return first the tests that run the code themselves, then in programs."""
        contexts = self._contexts(mutant.path)
        lines = range(mutant.first_line, mutant.last_line + 1)
        # What runs once, at an import or to build a statement, has no tests, or few.
        ran = Counter(chain(*contexts.values()))
        ran.update(dict.fromkeys(chain(*(contexts.get(n, []) for n in lines)), DIRECT))
        # A program may have been started for all tests of a file.
        direct = [test for test in ran if ran[test] >= DIRECT]
        programs = {_file(test) for test in direct if IN_A_PROGRAM.search(test)}
        outside = {test: 1 for test in self._seconds if _file(test) in programs}
        return [*self._chosen(ran), *self._chosen(outside)]

    def _chosen(self, lines: Mapping[str, int]) -> Tests:
        """Return the tests of files in whose tests most of the lines run first.

        Of these files in turn: the best test of each, then the second of each.
        """
        tests = [test for test in lines if test in self._passed]
        weights: Counter[str] = Counter()
        for test in tests:
            weights[_file(test)] += lines[test] / self._tests[_file(test)]
        ranks: Counter[str] = Counter()
        ordered = []
        for test in sorted(tests, key=lambda each: self._cost(each, lines)):
            ranks[_file(test)] += 1
            ordered.append((ranks[_file(test)] / weights[_file(test)], test))
        left, chosen = float(TEST_SECONDS), []
        for _, test in sorted(ordered):
            seconds = self._seconds[test]
            if seconds < LONG_SECONDS and (left := left - seconds) > 0:
                chosen.append((test, seconds))
        return chosen

    def _cost(self, test: str, lines: Mapping[str, int]) -> tuple[bool, float]:
        return lines[test] < DIRECT, self._seconds[test]


def _file(test: str) -> str:
    return test.split("::")[0]


def try_mutants(mutants: list[Mutant]) -> list[dict[str, Any]]:
    """Return of each mutant the test that kills it, if any."""
    selection = Selection()
    jobs: list[list[str]] = [[] for _ in range(PROCESSES)]
    for number, mutant in enumerate(mutants):
        source, tests = mutant.source(), selection.tests_of(mutant)
        name = name_of((ROOT / mutant.path).read_text(), source)
        job = {"path": mutant.path, "name": name, "source": source, "tests": tests}
        jobs[number % PROCESSES].append(json.dumps(job))
    with tempfile.TemporaryDirectory(prefix="petstore-mutants-", dir=MEMORY) as name:
        places = [Path(name) / str(number) for number in range(PROCESSES)]
        for runner in [*map(_start, places, jobs)]:
            runner.wait()
    texts = [_written(place, "results").read_text() for place in places]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def _start(place: Path, jobs: Iterable[str]) -> subprocess.Popen[bytes]:
    """Start a process that runs mutants in a copy of the project."""
    shutil.copytree(
        ROOT,
        place / "tree",
        ignore=shutil.ignore_patterns(".venv", ".marks", ".hypothesis"),
    )
    (place / "tmp").mkdir()
    _written(place, "jobs").write_text("\n".join(jobs))
    _written(place, "results").write_text("")
    environ = {"MUTATION_JOBS": str(_written(place, "jobs")), "TMPDIR": f"{place}/tmp"}
    with _written(place, "log").open("w") as log:
        return subprocess.Popen(
            [*RUNNER, f"--basetemp={place}/tests", "tests"],
            cwd=place / "tree",
            env=os.environ | environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            stdout=log,
            stderr=log,
        )


def _written(place: Path, kind: str) -> Path:
    return DIRECTORY / f"mutants-{place.name}.{kind}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    options = parser.parse_args()
    print(
        result_of(try_mutants(sample([*all_mutants()], options.seed, options.sample)))
    )
