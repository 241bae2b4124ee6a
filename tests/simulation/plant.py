"""Plant bugs and play seeds: `make plant`, or `python -m tests.simulation.plant`.

python -m tests.simulation.plant                a line of a table for each bug
python -m tests.simulation.plant NAME …         some of them
python -m tests.simulation.plant --only NAME    one, in this process

Each bug is planted in a process of its own, before the service is imported.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

from tests.simulation.bugs import BUGS, Bug

SEEDS = 100
PROCESSES = 2


class Planter(MetaPathFinder):
    """Changes the source of one module as it is imported."""

    def __init__(self, bug: Bug) -> None:
        self._bug = bug

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != self._bug.module:
            return None
        spec = PathFinder.find_spec(name, path, target)
        spec.loader = PlantedLoader(self._bug, spec.origin)
        return spec


class PlantedLoader(SourceFileLoader):
    """Loads the changed source, without the bytecode of the original."""

    def __init__(self, bug: Bug, path: str) -> None:
        super().__init__(bug.module, path)
        self._bug = bug

    def path_stats(self, path: str) -> Any:
        raise OSError("no bytecode")

    def get_data(self, path: str) -> bytes:
        source = super().get_data(path).decode()
        if source.count(self._bug.old) != 1:
            raise SystemExit(f"{self._bug.name}: the source has changed")
        return source.replace(self._bug.old, self._bug.new).encode()


def main() -> int:
    """Plant the named bugs, or all; return 1 unless each was found."""
    if sys.argv[1:2] == ["--only"]:
        return _play(next(bug for bug in BUGS if bug.name == sys.argv[2]))
    names = sys.argv[1:] or [bug.name for bug in BUGS]
    print("| Bug | Rule | Seeds |\n| --- | --- | --- |", flush=True)
    with ThreadPoolExecutor(PROCESSES) as pool:
        missed = list(pool.map(_play_in_process, names))
    print(f"{len(names)} bugs, {sum(missed)} not found")
    return int(any(missed))


def _play_in_process(name: str) -> bool:
    command = [sys.executable, "-m", "tests.simulation.plant", "--only", name]
    return subprocess.run(command, check=False).returncode != 0


def _play(bug: Bug) -> int:
    """Play seeds until the rule of a bug is broken; print how many it took."""
    sys.meta_path.insert(0, Planter(bug))
    from tests.simulation.seeds import first_fault

    seed, fault = first_fault(range(SEEDS), bug.rule)
    found = f"not found: {fault[:120]}" if seed is None else seed + 1
    print(f"| {bug.name} | {bug.rule} | {found} |", flush=True)
    return int(seed is None)


if __name__ == "__main__":
    sys.exit(main())
