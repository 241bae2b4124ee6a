"""Import order: a module imports only from its own layer and those listed before it."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import petstore

PACKAGE = Path(petstore.__file__).parent
# Lowest layer first. Modules on one line do not import each other.
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
    """Return the layer of a module, such as `api` for `petstore.api.pets`."""
    return module.split(".")[1] if "." in module else module


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the full name of every import in the code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_of(module: str) -> set[str]:
    """Return the modules of this package that a module imports."""
    return {
        name if name in MODULES else name.rpartition(".")[0]
        for name in imported(tree_of(module))
        if name.split(".")[0] == "petstore"
    }


def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module, without its type-checking imports."""
    tree = ast.parse(MODULES[module].read_text())
    tree.body = [each for each in tree.body if not is_for_type_checkers(each)]
    return tree


def is_for_type_checkers(statement: ast.stmt) -> bool:
    """Return whether the statement is an `if TYPE_CHECKING` block."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == (
        "TYPE_CHECKING"
    )


@each_module
def test_module_belongs_to_a_layer(module: str):
    assert layer_of(module) in HEIGHTS


@each_module
def test_module_imports_only_from_its_own_or_lower_layers(module: str):
    here = layer_of(module)
    for used in imports_of(module):
        there = layer_of(used)
        assert there == here or HEIGHTS[there] < HEIGHTS[here], used


def test_modules_have_no_circular_imports():
    uses = {module: imports_of(module) for module in MODULES}
    TopologicalSorter(uses).prepare()


@each_module
def test_functions_contain_no_imports(module: str):
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert not list(imported(node)), node.name


def reached_from(module: str) -> set[str]:
    """Return the module and all modules of this package that it depends on."""
    reached, waiting = set(), [module]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += imports_of(module)
    return reached


@pytest.mark.parametrize("module", [m for m in MODULES if layer_of(m) in NO_FLASK])
def test_core_modules_do_not_depend_on_flask_or_werkzeug(module: str):
    for used in reached_from(module):
        names = imported(tree_of(used))
        assert not [n for n in names if n.split(".")[0] in ("flask", "werkzeug")], used


@pytest.mark.parametrize("migration", sorted(MIGRATIONS))
def test_migration_imports_nothing_from_the_package(migration: str):
    assert not imports_of(migration)


def test_nothing_imports_a_migration():
    used = {name for module in MODULES for name in imports_of(module)}
    assert not used & MIGRATIONS
