"""What could make a test fail by chance is left to the harness."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
HARNESS = [TESTS / "harness", TESTS / "simulation", TESTS / "torture"]
CLIENTS = TESTS / "e2e" / "clients"  # programs, which wait as a user's would
FILES = [
    path
    for path in sorted(TESTS.rglob("*.py"))
    if not any(folder in path.parents for folder in [*HARNESS, CLIENTS])
]
# Methods of a process that may have ended, which servers.py calls.
OF_PROCESSES = {"children", "is_running"}


def test_tests_ask_the_harness_about_processes_that_may_end():
    for path, call in calls_in(FILES):
        assert call not in OF_PROCESSES, path


def test_loop_that_waits_is_one_of_the_harness_which_ends():
    for path in FILES:
        for loop in ast.walk(ast.parse(path.read_text())):
            if isinstance(loop, ast.While):
                assert "sleep" not in set(called(loop)), (path, loop.lineno)


def calls_in(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each name that is called in the files."""
    for path in paths:
        for name in called(ast.parse(path.read_text())):
            yield path, name


def called(tree: ast.AST) -> Iterator[str]:
    """Yield the name of each function or method that is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "attr", getattr(node.func, "id", ""))
