"""Mutants: does a test fail for each fault that cosmic-ray plants in the service?

`make mutants MUTANTS=1000` draws that many by a seed that it prints. The tests of the
folder of the mutated file are tried first, and then those that use it most. It prints a
line for each mutant.
"""

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COSMIC = ROOT / ".venv/mutants/bin/cosmic-ray"
PROCESSES = 2
SECONDS = 1200.0  # for the tests of a mutant; one that makes them hang is found
SIMULATION = "simulation/test_simulation.py::test_no_seed_breaks_a_promise"
# By folders of petstore/: the tests that are tried beside those of the same name.
NEAR = {
    "extensions": ["extensions", "core/cli"],
    "models": ["core/api", "extensions/dashboard", "core/cli"],
    "quotas": ["together/faults", "together/races"],
    "schemas": ["core/api", "extensions/openapi", "extensions/dashboard"],
    "storage": ["together/faults", "core/cli"],
    "upkeep": ["core/api", "core/cli"],
    "web": ["core/api", "extensions/dashboard", "core/server"],
}
OTHERS = ["core/api", "core/web", "core/server", "core/cli"]
COSMIC_RAY = ROOT / "tests/together/cosmic-ray.toml"


class Mutant(NamedTuple):
    """What cosmic-ray replaces, and where."""

    file: str
    operator: str
    occurrence: int
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.operator.removeprefix('core/')}"

    @property
    def tests(self) -> list[str]:
        """The tests that are tried."""
        room = Path(self.file).parts[1]
        own = [f"core/{room}"] if (ROOT / "tests/core" / room).is_dir() else []
        tried = [*own, *NEAR.get(room, OTHERS), SIMULATION]
        tops = sorted(map(str, ROOT.glob("tests/*/test_*.py")))
        return [*(f"tests/{each}" for each in tried), *tops]


def main() -> None:
    """Plant each of the drawn mutants, and run its tests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("number", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        copies = [_copy(Path(directory) / str(n)) for n in range(PROCESSES)]
        mutants = _draw(copies[0], chosen.number, random.Random(chosen.seed))
        print(f"{len(mutants)} mutants of seed {chosen.seed}", flush=True)
        rest = iter(mutants)
        with ThreadPoolExecutor(PROCESSES) as pool:
            killed = sum(pool.map(partial(_try_each, rest), copies))
    print(
        f"{killed} of {len(mutants)} were killed, {100 * killed / len(mutants):.0f} %"
    )


def _copy(directory: Path) -> Path:
    shutil.copytree(ROOT, directory, ignore=shutil.ignore_patterns(".venv", ".git"))
    (directory / ".venv").symlink_to(ROOT / ".venv")
    return directory


def _draw(copy: Path, number: int, dice: random.Random) -> list[Mutant]:
    """Return mutants of different places."""
    session = copy.parent / "session.sqlite"
    subprocess.run([COSMIC, "init", COSMIC_RAY, session], cwd=copy, check=True)
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


def _try_each(rest: Iterator[Mutant], copy: Path) -> int:
    """Plant mutants in a copy until none is left; return how many were killed."""
    killed = 0
    for mutant in rest:
        is_killed = _is_killed(copy, mutant)
        killed += is_killed
        print("killed  " if is_killed else "survived", mutant, flush=True)
    return killed


def _is_killed(copy: Path, mutant: Mutant) -> bool:
    """Plant a mutant, and return whether one of its tests fails."""
    file = copy / mutant.file
    before = file.read_text()
    plant = [COSMIC, "apply", mutant.file, mutant.operator, str(mutant.occurrence)]
    try:
        subprocess.run(plant, cwd=copy, check=True)
        return _fail(copy, mutant.tests)
    finally:
        file.write_text(before)


def _fail(copy: Path, tests: list[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    run = subprocess.Popen(
        [*command, *tests], cwd=copy, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return run.wait(SECONDS) != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
