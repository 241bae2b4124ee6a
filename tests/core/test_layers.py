"""Import order: a module imports only from its own layer and those below it."""

import re
from graphlib import TopologicalSorter

import pytest

from tests.harness.documents import code_in, rows_of
from tests.harness.sources import SOURCES, extension_of, imported

# Lowest layer first. Modules in one row do not import each other.
LAYERS = [code_in(row[0]) for row in rows_of("architecture.md", "The import order")]
HEIGHTS = {name: height for height, names in enumerate(LAYERS) for name in names}
TIME = re.compile(r"\btime\.(\w+)\(")
# What an environ has under some servers, and not by PEP 3333.
NAME_OF_A_SERVER = re.compile(r"RAW_URI|REQUEST_URI|[\"'](gunicorn|werkzeug|uwsgi)\.")


MIGRATIONS = {name for name in SOURCES if ".storage.migrations." in name}
MODULES = SOURCES.keys() - MIGRATIONS


def layer_of(module: str) -> str:
    """Return the layer of a module, such as `api` for `petstore.api.pets`."""
    return extension_of(module) or [*module.split("."), module][1]


def imports_of(module: str) -> set[str]:
    """Return the modules of this package that a module imports."""
    return {
        name if name in SOURCES else name.rpartition(".")[0]
        for name in imported(module)
        if name.split(".")[0] == "petstore"
    }


def test_modules_import_only_from_their_own_or_lower_layers():
    for module in MODULES:
        here = layer_of(module)
        for used in imports_of(module):
            there = layer_of(used)
            assert there == here or HEIGHTS[there] < HEIGHTS[here], (module, used)


def test_core_imports_no_extension():
    for module in MODULES:
        if not extension_of(module):
            assert not {*filter(None, map(extension_of, imports_of(module)))}, module


def test_extension_uses_of_another_only_what_its_package_offers():
    for module in MODULES:
        if here := extension_of(module):
            for used in imports_of(module):
                if extension_of(used) not in (here, None):
                    assert used == f"petstore.extensions.{extension_of(used)}", module


def test_only_the_server_knows_names_of_servers():
    known = {name for name, text in SOURCES.items() if NAME_OF_A_SERVER.search(text)}
    places = {"server", "gunicorn_hooks", "gunicorn_conf", "wsgi"}
    assert {layer_of(name) for name in known} <= places


def test_modules_have_no_circular_imports():
    TopologicalSorter({module: imports_of(module) for module in SOURCES}).prepare()


def test_rest_knows_neither_engine_and_models_know_no_file_of_migrations():
    place, whole = "petstore.storage", {"database", "migrator"}
    for module in MODULES:
        if layer_of(module) != "storage":
            used = {name for name in imports_of(module) if name.startswith(place)}
            files = {name.rpartition(".")[2] for name in used} - {"storage"}
            assert files <= whole, module
            assert layer_of(module) != "models" or not files, module


@pytest.mark.parametrize(
    ("libraries", "layers"),
    [
        ({"flask", "werkzeug"}, [*HEIGHTS][[*HEIGHTS].index("web") :]),
        (
            {"gevent", "gunicorn", "httptools"},
            ["server", "gunicorn_hooks", "monitoring"],
        ),
        ({"time"}, ["clock"]),
        ({"random", "secrets", "uuid"}, ["randomness"]),
    ],
)
def test_only_some_layers_know_a_library(libraries: set[str], layers: list[str]):
    for module in MODULES:
        used = {name.split(".")[0] for name in imported(module)}
        if set(TIME.findall(SOURCES[module])) == {"sleep"}:
            used.discard("time")  # it waits, and does not look at the time
        assert not used & libraries or layer_of(module) in layers, module


@pytest.mark.parametrize(
    ("text", "places"),
    [
        # It lets in only those who can run: what computes for long calls `give_way`.
        ("sleep(0)", {"petstore.web.turns", "petstore.server.worker"}),
        # Peewee begins again after it: an exception leaves a transaction.
        (".rollback(", set()),
    ],
)
def test_what_misleads_is_called_in_few_places(text: str, places: set[str]):
    assert {module for module in MODULES if text in SOURCES[module]} == places


def test_migrations_import_nothing_from_the_package_and_are_not_imported():
    for module in SOURCES:
        imports = imports_of(module)
        assert not imports & MIGRATIONS, module
        assert not (module in MIGRATIONS and imports), module
