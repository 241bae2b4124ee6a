"""The listing of petstore/ is the import order: nothing uses what is below it."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import petstore

PACKAGE = Path(petstore.__file__).parent
# From the ground up. What stands in one line does not know of each other.
LAYERS = [
    ["addresses", "urls", "version"],
    ["settings"],
    ["clock"],
    ["errors"],
    ["responses"],
    ["waiting"],
    ["batches"],
    ["edge"],
    ["statements"],
    ["engines"],
    ["database"],
    ["events", "migrator"],
    ["models"],
    ["schemas"],
    ["quotas"],
    ["copies"],
    ["error_handlers", "proxies", "routing"],
    ["domains"],
    ["checks"],
    ["api", "docs", "dashboard", "ops", "cli"],
    ["petstore"],
]
NO_FLASK = (
    "addresses",
    "urls",
    "version",
    "settings",
    "clock",
    "errors",
    "waiting",
    "batches",
    "statements",
    "engines",
    "database",
    "events",
    "migrator",
    "models",
    "schemas",
    "quotas",
    "copies",
)
HEIGHTS = {name: height for height, names in enumerate(LAYERS) for name in names}
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
MODULES = {name.removesuffix(".__init__"): path for name, path in MODULES.items()}
MIGRATIONS = {name for name in MODULES if name.startswith("petstore.migrations.")}
each_module = pytest.mark.parametrize("module", sorted(MODULES.keys() - MIGRATIONS))


def layer_of(module: str) -> str:
    """petstore.api.pets is of the layer api; the package itself is the topmost."""
    return module.split(".")[1] if "." in module else module


def imported(tree: ast.AST) -> Iterator[str]:
    """What is imported anywhere in the code, by its whole name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_of(module: str) -> set[str]:
    """The modules of this package that one of them uses."""
    return {
        name if name in MODULES else name.rpartition(".")[0]
        for name in imported(tree_of(module))
        if name.split(".")[0] == "petstore"
    }


def tree_of(module: str) -> ast.Module:
    """Its code, without what only a type checker imports."""
    tree = ast.parse(MODULES[module].read_text())
    tree.body = [each for each in tree.body if not is_for_type_checkers(each)]
    return tree


def is_for_type_checkers(statement: ast.stmt) -> bool:
    """Whether it is the block `if TYPE_CHECKING`."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == (
        "TYPE_CHECKING"
    )


@each_module
def test_a_module_has_its_place_in_the_order(module: str):
    assert layer_of(module) in HEIGHTS


@each_module
def test_a_module_uses_only_what_is_above_it_in_the_listing(module: str):
    here = layer_of(module)
    for used in imports_of(module):
        there = layer_of(used)
        assert there == here or HEIGHTS[there] < HEIGHTS[here], used


def test_no_modules_use_each_other_in_a_circle():
    uses = {module: imports_of(module) for module in MODULES}
    TopologicalSorter(uses).prepare()


@each_module
def test_nothing_is_imported_inside_a_function(module: str):
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert not list(imported(node)), node.name


def reached_from(module: str) -> set[str]:
    """The module and everything of this package that it uses, all the way down."""
    reached, waiting = set(), [module]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += imports_of(module)
    return reached


@pytest.mark.parametrize("module", [m for m in MODULES if layer_of(m) in NO_FLASK])
def test_rules_and_shapes_reach_nothing_of_requests(module: str):
    for used in reached_from(module):
        names = imported(tree_of(used))
        assert not [n for n in names if n.split(".")[0] in ("flask", "werkzeug")], used


@pytest.mark.parametrize("migration", sorted(MIGRATIONS))
def test_a_migration_is_frozen_and_imports_nothing_of_the_service(migration: str):
    assert not imports_of(migration)


def test_nothing_imports_a_migration():
    used = {name for module in MODULES for name in imports_of(module)}
    assert not used & MIGRATIONS
