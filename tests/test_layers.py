"""Import order: a module imports only from its own layer and those listed before it."""

import ast
import functools
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import petstore
from tests.harness.documents import code_in, rows_of

PACKAGE = Path(petstore.__file__).parent
# Lowest layer first. Modules on one line do not import each other.
LAYERS = [
    ["settings"],
    ["clock", "randomness"],
    ["errors"],
    ["timeouts"],
    ["concurrency"],
    ["log"],
    ["storage"],
    ["events"],
    ["models"],
    ["schemas"],
    ["sheets"],
    ["quotas"],
    ["upkeep"],
    ["web"],
    ["hosting"],
    ["api", "openapi", "dashboard", "monitoring", "cli"],
    ["petstore"],
    # Only gunicorn enters these.
    ["server"],
    ["gunicorn_hooks"],
]
HEIGHTS = {name: height for height, names in enumerate(LAYERS) for name in names}
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
MODULES = {name.removesuffix(".__init__"): path for name, path in MODULES.items()}
TIME = re.compile(r"\btime\.(\w+)\(")
MIGRATIONS = {
    name for name in MODULES if name.startswith("petstore.storage.migrations.")
}


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


@functools.cache
def names_in(module: str) -> frozenset[str]:
    """Return the full name of every import of a module, for type checkers as well."""
    return frozenset(imported(ast.parse(MODULES[module].read_text())))


def imports_of(module: str) -> set[str]:
    """Return the modules of this package that a module imports."""
    return {
        name if name in MODULES else name.rpartition(".")[0]
        for name in names_in(module)
        if name.split(".")[0] == "petstore"
    }


def test_modules_import_only_from_their_own_or_lower_layers():
    for module in MODULES.keys() - MIGRATIONS:
        here = layer_of(module)
        for used in imports_of(module):
            there = layer_of(used)
            assert there == here or HEIGHTS[there] < HEIGHTS[here], (module, used)


def test_modules_have_no_circular_imports():
    uses = {module: imports_of(module) for module in MODULES}
    TopologicalSorter(uses).prepare()


def test_functions_contain_no_imports_but_the_factory_and_the_hooks_of_gunicorn():
    late = {"petstore", "petstore.gunicorn_hooks"}
    for module in MODULES.keys() - MIGRATIONS - late:
        for node in ast.walk(ast.parse(MODULES[module].read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert not list(imported(node)), (module, node.name)


def test_rest_knows_neither_engine_and_models_know_no_file_of_migrations():
    place, whole = "petstore.storage", {"database", "migrator", "copies"}
    for module in MODULES:
        if not module.startswith(place):
            used = {name for name in imports_of(module) if name.startswith(place)}
            files = {name.rpartition(".")[2] for name in used} - {"storage"}
            assert files <= {"lists"} | whole, module
            assert layer_of(module) != "models" or not files & whole, module


def test_core_modules_do_not_depend_on_flask_or_werkzeug():
    # They depend on each other alone, as the order of the layers says.
    for module in MODULES:
        if HEIGHTS[layer_of(module)] <= HEIGHTS["quotas"]:
            packages = {name.split(".")[0] for name in names_in(module)}
            assert not packages & {"flask", "werkzeug"}, module


def test_time_and_chance_have_one_source_each():
    sources = {"petstore.clock": "time", "petstore.randomness": "random"}
    for module in MODULES.keys() - MIGRATIONS:
        taken = {name.split(".")[0] for name in names_in(module)}
        if set(TIME.findall(MODULES[module].read_text())) == {"sleep"}:
            taken.discard("time")  # it waits, and does not look at the time
        own = {sources.get(module)}
        assert taken & {"time", "random", "secrets", "uuid"} <= own, module


def test_only_the_server_and_one_module_know_greenlets():
    for module in MODULES:
        packages = {name.split(".")[0] for name in names_in(module)}
        is_server = layer_of(module) == "server"
        assert is_server or not packages & {"gevent", "greenlet"}, module


def test_migrations_import_nothing_from_the_package_and_are_not_imported():
    for module in MODULES:
        imports = imports_of(module)
        assert not imports & MIGRATIONS, module
        assert not (module in MIGRATIONS and imports), module


def test_requirements_begin_with_the_libraries_that_modules_import():
    imports = {name.split(".")[0] for module in MODULES for name in names_in(module)}
    libraries = packages_distributions()
    used = {libraries[name][0] for name in imports & libraries.keys()}
    requirements = (PACKAGE.parent / "requirements.txt").read_text()
    ours, _, _ = requirements.partition("\n\n")
    listed = set(re.findall(r"^([^[\n]+).*==", ours, re.MULTILINE))
    assert listed == used | {"hiredis"}  # with which redis-py reads replies


def test_import_order_is_documented():
    told = [code_in(row[0]) for row in rows_of("architecture.md", "The import order")]
    assert told == LAYERS
