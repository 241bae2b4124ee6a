"""Plant bugs and play seeds, as `make plant` does.

python -m tests.together.simulation.plant                a line of a table for each bug
python -m tests.together.simulation.plant NAME …         some of them

Each bug is planted in a copy of the sources, in which a process plays the seeds.
"""

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.together.simulation.bugs import BUGS, ROOT, Bug
from tests.together.simulation.seeds import first_fault

SEEDS = 100
PROCESSES = 2


def main() -> int:
    """Plant the named bugs, or all; return 1 unless each was found."""
    if sys.argv[1:2] == ["--only"]:
        return _play(next(bug for bug in BUGS if bug.name == sys.argv[2]))
    names = sys.argv[1:]
    chosen = [bug for bug in BUGS if not names or bug.name in names]
    print("| Bug | Rule | Seeds |\n| --- | --- | --- |", flush=True)
    with ThreadPoolExecutor(PROCESSES) as pool:
        missed = list(pool.map(_is_missed, chosen))
    print(f"{len(chosen)} bugs, {sum(missed)} not found")
    return int(any(missed))


def _is_missed(bug: Bug) -> bool:
    """Plant a bug in a copy, and return whether no seed there finds it."""
    command = [
        sys.executable,
        "-m",
        "tests.together.simulation.plant",
        "--only",
        bug.name,
    ]
    with tempfile.TemporaryDirectory() as copy:
        for folder in ("petstore", "tests"):
            shutil.copytree(ROOT / folder, Path(copy, folder))
        file = Path(copy, bug.file)
        file.write_text(file.read_text().replace(bug.old, bug.new))
        return subprocess.run(command, cwd=copy, check=False).returncode != 0


def _play(bug: Bug) -> int:
    """Play seeds until the rule of a bug is broken; print how many it took."""
    seed, fault = first_fault(range(SEEDS), bug.rule)
    found = f"not found: {fault[:120]}" if seed is None else seed + 1
    print(f"| {bug.name} | {bug.rule} | {found} |", flush=True)
    return int(seed is None)


if __name__ == "__main__":
    sys.exit(main())
