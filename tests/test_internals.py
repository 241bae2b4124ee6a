"""Undocumented names of libraries: the package uses only those listed here.

A name is undocumented if the reference of its library does not describe it, whether or
not it begins with an underscore.
"""

import ast
import re
import signal
from pathlib import Path

import peewee
import pytest
from gunicorn.config import Config
from gunicorn.workers.base import Worker

import petstore

PACKAGE = Path(petstore.__file__).parent
PAGE = PACKAGE.parent / "docs" / "architecture.md"
NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}
DOCUMENTED = {"_get_current_object", "_meta"} | NAMED_TUPLE
USED = {
    "peewee.Database._state",
    "peewee.Database._connect",
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


def private_names(tree: ast.AST) -> set[str]:
    """Return the underscore names that a module uses but does not define."""
    defined, used = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            defined.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            if ast.unparse(node.value) not in ("self", "cls"):
                used.add(node.attr)
            elif isinstance(node.ctx, ast.Store):
                defined.add(node.attr)
    private = {name for name in used if name[0] == "_" and not name.endswith("__")}
    return private - defined
