"""Plant a bug and play seeds: `python -m tests.simulation.plant [NAME …]`.

Each bug is planted in a process of its own, before the service is imported.
"""

import subprocess
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

from tests.simulation.bugs import BUGS, Bug

SEEDS = 50


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
    """Plant the named bugs, or all; return how many were not found."""
    if sys.argv[1:2] == ["--only"]:
        return _play(next(bug for bug in BUGS if bug.name == sys.argv[2]))
    chosen = sys.argv[1:] or [bug.name for bug in BUGS]
    missed = 0
    for name in chosen:
        run = [sys.executable, "-m", "tests.simulation.plant", "--only", name]
        missed += subprocess.run(run, check=False).returncode
    return missed


def _play(bug: Bug) -> int:
    sys.meta_path.insert(0, Planter(bug))
    from tests.simulation.seeds import first_fault

    seed, fault = first_fault(range(SEEDS), bug.rule)
    is_found = seed is not None
    print(f"{bug.name}: {f'seed {seed}' if is_found else 'MISSED'}: {fault[:120]}")
    return not is_found


if __name__ == "__main__":
    sys.exit(main())
