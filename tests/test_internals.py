"""Undocumented names of libraries: the package uses only those listed, its tests none.

A name is undocumented if the reference of its library does not describe it, whether or
not it begins with an underscore.
"""

import ast
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import peewee
import pytest
from gunicorn.config import Config
from gunicorn.workers.base import Worker

import petstore

PACKAGE = Path(petstore.__file__).parent
TESTS = Path(__file__).parent
PAGE = PACKAGE.parent / "docs" / "architecture.md"
NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}
DOCUMENTED = {"_get_current_object", "_meta"} | NAMED_TUPLE
USED = {
    "peewee.Database._state",
    "peewee.Database._connect",
    "peewee.Database.get_sql_context",
    "peewee.__exception_wrapper__",
    "gunicorn.workers.base.Worker.alive",
}


def test_architecture_page_lists_the_private_names():
    rows = PAGE.read_text().partition("## Undocumented names")[2]
    assert set(re.findall(r"^\| `([^`]+)` \|", rows, re.MULTILINE)) == USED
    assert len(USED) <= 5


def test_peewee_database_state_can_be_replaced():
    database = peewee.SqliteDatabase(":memory:")
    state = type(database._state)()
    assert (state.conn, state.closed, state.transactions) == (None, True, [])
    database._state = state
    with database.atomic():
        assert len(state.transactions) == 1
    database.close()


def test_peewee_databases_define_connect():
    for kind in (peewee.SqliteDatabase, peewee.PostgresqlDatabase):
        assert "_connect" in vars(kind)


def test_peewee_writes_constants_as_literals():
    context = peewee.SqliteDatabase(None).get_sql_context(value_literals=True)
    assert context.parse(peewee.Value("it's")) == ("'it''s'", [])


def test_peewee_exception_wrapper_translates_errors():
    with pytest.raises(peewee.OperationalError), peewee.__exception_wrapper__:
        raise type("OperationalError", (Exception,), {})


def test_gunicorn_worker_is_no_longer_alive_after_a_signal():
    worker = Worker(1, 1, [], None, 30, Config(), None)
    assert worker.alive
    worker.tmp.close()
    worker.handle_exit(signal.SIGTERM, None)
    assert not worker.alive


def test_modules_use_only_the_listed_private_names():
    known = {name.rpartition(".")[2] for name in USED} | DOCUMENTED
    for module in PACKAGE.rglob("*.py"):
        assert private_names(ast.parse(module.read_text())) <= known, module


def test_tests_use_no_private_name_of_a_library():
    code = [ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")]
    tests = {path: ast.parse(path.read_text()) for path in TESTS.rglob("*.py")}
    ours = {name for tree in (*code, *tests.values()) for name in names_in(tree)}
    for path, tree in tests.items():
        assert private_names(tree) - ours <= DOCUMENTED | {"_exit"}, path


def private_names(tree: ast.AST) -> set[str]:
    """Return the underscore names that a module uses but does not define."""
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and not is_own(node):
            used.add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("setattr"):
            used |= {name.value for name in node.args[1:2] if is_text(name)}
    private = {name for name in used if name[:1] == "_" and not name.endswith("__")}
    return private - {node.name for node in ast.walk(tree) if isinstance(node, NAMED)}


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines, those of attributes included."""
    for node in ast.walk(tree):
        if isinstance(node, NAMED):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield from [node.attr] * is_own(node)


def is_own(node: ast.Attribute) -> bool:
    return ast.unparse(node.value) in ("self", "cls")


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
