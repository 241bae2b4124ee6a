"""Mutants: does a test fail for each fault that cosmic-ray plants in the service?

`make mutants MUTANTS=1000` draws that many by a seed that it prints. Coverage, with a
context for each test, says which tests run the mutated line: those that run little else
are tried first, and the others if those pass. It prints a line for each mutant.
"""

import argparse
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import coverage

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
COSMIC = ROOT / ".venv/mutants/bin/cosmic-ray"
PROCESSES = 2
FEW_TESTS = 30  # that are tried first
MOST_TESTS = 150  # of those that run a line
SECONDS = 60.0  # for these; a fault that makes them hang is found
MORE_SECONDS = 200.0  # for the others
# Coverage does not see what other processes run, nor for which tests a fixture of many
# does something. So these are tried as well, for files whose paths begin so.
ELSEWHERE = {
    "petstore/": ["tests/simulation/test_simulation.py::test_no_seed_breaks_a_promise"],
    "petstore/models/": ["tests/test_promises.py"],
    "petstore/schemas/": ["tests/dashboard", "tests/api"],
    "petstore/settings": ["tests/test_refused_start.py"],
    "petstore/timeouts": ["tests/server"],
    "petstore/gunicorn_hooks": ["tests/server", "tests/monitoring"],
    "petstore/log": ["tests/monitoring"],
    "petstore/quotas/": ["tests/faults", "tests/races"],
    "petstore/storage/": ["tests/faults"],
}
COSMIC_RAY = """[cosmic-ray]
module-path = "petstore"
timeout = 60.0
excluded-modules = ["petstore/storage/migrations/*"]
test-command = "true"
[cosmic-ray.distributor]
name = "local"
"""
COVERAGE = """[run]
dynamic_context = test_function
source = petstore
data_file = {}
parallel = true
concurrency = greenlet, thread
"""


# The tests that run a line of a file.
Tests = dict[tuple[str, int], list[str]]


class Mutant(NamedTuple):
    """What cosmic-ray replaces, and where."""

    file: str
    operator: str
    occurrence: int
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.operator.removeprefix('core/')}"


def main() -> None:
    """Plant each of the drawn mutants, and run its tests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("number", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        copies = [_copy(Path(directory) / str(n)) for n in range(PROCESSES)]
        tests = _tests_by_line(copies[0])
        dice = random.Random(chosen.seed)
        mutants = _draw(copies[0], chosen.number, dice)
        print(f"{len(mutants)} mutants of seed {chosen.seed}", flush=True)
        rest = iter(mutants)
        with ThreadPoolExecutor(PROCESSES) as pool:
            killed = sum(pool.map(partial(_try_each, rest, tests), copies))
    print(
        f"{killed} of {len(mutants)} were killed, {100 * killed / len(mutants):.0f} %"
    )


def _copy(directory: Path) -> Path:
    shutil.copytree(ROOT, directory, ignore=shutil.ignore_patterns(".venv", ".git"))
    (directory / ".venv").symlink_to(ROOT / ".venv")
    return directory


def _try_each(rest: Iterator[Mutant], tests: Tests, copy: Path) -> int:
    """Plant mutants in a copy until none is left; return how many were killed."""
    killed = 0
    for mutant in rest:
        is_killed = _is_killed(copy, mutant, _tests_of(mutant, tests, copy))
        killed += is_killed
        print("killed  " if is_killed else "survived", mutant, flush=True)
    return killed


def _tests_of(mutant: Mutant, tests: Tests, copy: Path) -> list[str]:
    if of_line := tests.get((mutant.file, mutant.line)):
        return of_line
    # What runs when a file is imported is tried by all tests of the file, and of those
    # that import it.
    package, name = mutant.file.removesuffix(".py").replace("/", ".").rsplit(".", 1)
    imports = f"from {package}.{name} import ", f"from {package} import {name}\n"
    files = [str(each.relative_to(copy)) for each in copy.glob("petstore/**/*.py")]
    importing = [
        each for each in files if any(it in (copy / each).read_text() for it in imports)
    ]
    of_files = [tests.get((each, 0), []) for each in (mutant.file, *importing)]
    return [*dict.fromkeys(chain.from_iterable(of_files))]


def _tests_by_line(copy: Path) -> Tests:
    """Run all tests, and return those that run each line, and a file by its line 0."""
    data, settings = copy.parent / "coverage", copy / ".coveragerc"
    settings.write_text(COVERAGE.format(data))
    files = sorted(
        path.relative_to(copy) for path in (copy / "tests").rglob("test_*.py")
    )
    files = [file for file in files if file.parts[1] not in ("e2e", "torture")]
    runs = [_start(copy, settings, files[part::PROCESSES]) for part in range(PROCESSES)]
    for run in runs:
        run.wait()
    found = coverage.Coverage(data_file=str(data), config_file=str(settings))
    found.combine()
    seen = found.get_data()
    tests: dict[tuple[str, int], set[str]] = {}
    for file in seen.measured_files():
        name, of_file = str(Path(file).relative_to(copy)), set()
        for line, contexts in seen.contexts_by_lineno(file).items():
            of_line = {_node(each) for each in contexts if each.startswith("tests.")}
            tests[name, line] = of_line
            of_file |= of_line
        tests[name, 0] = of_file
    lines = Counter(chain.from_iterable(tests.values()))
    return {
        place: sorted(of_place, key=lambda test: (lines[test], test))
        for place, of_place in tests.items()
    }


def _node(context: str) -> str:
    """Return what pytest calls a test: tests/api/test_x.py::test_y."""
    module, *names = re.split(r"\.(?=[A-Z]|test_\w+$)", context)
    return "::".join([f"{module.replace('.', '/')}.py", *names])


def _start(copy: Path, settings: Path, files: list[Path]) -> subprocess.Popen[bytes]:
    command = [BIN / "python", "-m", "coverage", "run", f"--rcfile={settings}"]
    command += ["-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, files)]
    return subprocess.Popen(command, cwd=copy, stdout=subprocess.DEVNULL)


def _draw(copy: Path, number: int, dice: random.Random) -> list[Mutant]:
    """Return mutants of different places."""
    settings, session = copy.parent / "cosmic.toml", copy.parent / "session.sqlite"
    settings.write_text(COSMIC_RAY)
    subprocess.run([COSMIC, "init", settings, session], cwd=copy, check=True)
    rows = sqlite3.connect(session).execute(
        "SELECT module_path, operator_name, occurrence, start_pos_row, start_pos_col "
        "FROM mutation_specs WHERE operator_name NOT LIKE '%_BitOr_%' "  # of types
        "ORDER BY 1, 4, 5, 2, 3"
    )
    places: dict[tuple[str, int, int], list[Mutant]] = {}
    for file, operator, occurrence, line, column in rows:
        mutant = Mutant(file, operator, occurrence, line)
        places.setdefault((file, line, column), []).append(mutant)
    drawn = dice.sample(sorted(places), min(number, len(places)))
    return [dice.choice(places[place]) for place in drawn]


def _is_killed(copy: Path, mutant: Mutant, tests: list[str]) -> bool:
    """Plant a mutant, and return whether one of its tests fails."""
    file = copy / mutant.file
    before = file.read_text()
    plant = [COSMIC, "apply", mutant.file, mutant.operator]
    try:
        subprocess.run([*plant, str(mutant.occurrence)], cwd=copy, check=True)
        few, others = tests[:FEW_TESTS], tests[FEW_TESTS:MOST_TESTS]
        room = mutant.file.replace("petstore/", "tests/").rsplit("/", 1)[0]
        others += [room] if room != "tests" and (copy / room).is_dir() else []
        for start, folders in ELSEWHERE.items():
            others += folders if mutant.file.startswith(start) else []
        return _fail(copy, few, SECONDS) or _fail(copy, others, MORE_SECONDS)
    finally:
        file.write_text(before)


def _fail(copy: Path, tests: list[str], seconds: float) -> bool:
    command = [BIN / "python", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    if not tests:
        return False
    run = subprocess.Popen(
        [*command, *tests], cwd=copy, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return run.wait(seconds) != 0
    except subprocess.TimeoutExpired:
        return seconds == SECONDS
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
