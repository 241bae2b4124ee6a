"""Tests share code by way of the harness, and each file has a name of its own."""

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent
FILES = {path.relative_to(TESTS): path for path in sorted(TESTS.rglob("*.py"))}


def test_a_file_imports_from_its_own_folder_and_the_harness_alone():
    for file, path in FILES.items():
        folders = {"harness", file.parts[0]}
        for module in imports_of(path):
            assert module[0] in folders, (file, module)
            assert not any(part.startswith("test_") for part in module), (file, module)


def imports_of(path: Path) -> list[list[str]]:
    """Return the parts below `tests` of each name that a file imports from there."""
    return [
        [*node.module.split(".")[1:], alias.name]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        if node.module.split(".")[0] == "tests"
        for alias in node.names
    ]


def test_no_two_test_files_have_the_same_name():
    names = Counter(file.name for file in FILES if file.name.startswith("test_"))
    assert [name for name, count in names.items() if count > 1] == []
