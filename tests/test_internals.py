"""Undocumented names of libraries: the package uses only those listed.

A name is undocumented if the reference of its library does not describe it, whether or
not it begins with an underscore.
"""

import ast
import inspect
import os
import re
from pathlib import Path

import peewee
import psycopg
import pytest
from gunicorn.config import Config
from gunicorn.workers.ggevent import GeventWorker
from marshmallow import Schema, fields

import petstore

PACKAGE = Path(petstore.__file__).parent
PAGE = PACKAGE.parent / "docs" / "architecture.md"
NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NAMED_TUPLE = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
DOCUMENTED = {"_get_current_object", "_meta"} | NAMED_TUPLE
USED = {
    "peewee.Database._state",
    "peewee.Database._connect",
    "peewee.Database._close",
    "peewee.Database.get_sql_context",
    "peewee.Query._returning",
    "peewee.__exception_wrapper__",
    "marshmallow.Schema._serialize",
    "psycopg.Connection.wait",
    "gunicorn.workers.ggevent.GeventWorker",
}


def test_architecture_page_lists_the_private_names():
    rows = PAGE.read_text().partition("## Undocumented names")[2]
    assert set(re.findall(r"^\| `([^`]+)` \|", rows, re.MULTILINE)) == USED


def test_peewee_database_connects_and_closes_as_a_subclass_says():
    calls = []

    class Pooled(peewee.SqliteDatabase):
        def _connect(self) -> object:
            calls.append("connect")
            return super()._connect()

        def _close(self, connection: object) -> None:
            calls.append("close")
            super()._close(connection)

    database = Pooled(":memory:")
    with database.connection_context():
        assert database._state.conn is database.connection()
        assert len(database._state.ctx) == 1
    assert database._state.conn is None
    assert calls == ["connect", "close"]


def test_peewee_writes_constants_as_literals():
    context = peewee.SqliteDatabase(None).get_sql_context(value_literals=True)
    assert context.parse(peewee.Value("it's")) == ("'it''s'", [])


def test_peewee_exception_wrapper_translates_errors():
    with pytest.raises(peewee.OperationalError), peewee.__exception_wrapper__:
        raise type("OperationalError", (Exception,), {})


def test_peewee_query_knows_the_columns_of_its_rows():
    class Thing(peewee.Model):
        pass

    read, write = Thing.select(Thing.id), Thing.delete().returning(Thing.id)
    assert [*vars(read)["_returning"]] == [*vars(write)["_returning"]] == [Thing.id]
    assert not vars(Thing.delete())["_returning"]


def test_marshmallow_dumps_one_and_many_by_a_method_between_its_hooks():
    class Named(Schema):
        name = fields.String()

        def _serialize(self, obj: object, *, many: bool = False) -> object:
            return obj, many

    assert Named().dump("Rex") == ("Rex", False)
    assert Named(many=True).dump(["Rex"]) == (["Rex"], True)


def test_psycopg_connection_waits_by_a_method_with_a_timeout():
    parameters = inspect.signature(psycopg.Connection.wait).parameters
    assert [*parameters] == ["self", "gen", "interval", "timeout"]
    assert "self._conn.wait(" in inspect.getsource(psycopg.Cursor.execute)


def test_gunicorn_worker_has_what_ours_uses():
    worker = GeventWorker(1, os.getppid(), [], None, 30, Config(), None)
    assert worker.alive
    worker.tmp.notify()
    worker.tmp.close()
    assert (worker.nr, worker.ppid, worker.sockets) == (0, os.getppid(), [])
    assert worker.max_requests > 0
    assert worker.worker_connections == worker.cfg.worker_connections
    for name in ("patch", "run", "notify", "handle_exit"):
        assert callable(getattr(worker, name))


def test_gunicorn_calls_the_setup_of_a_worker_class_that_it_loads():
    calls = []

    class Worker(GeventWorker):
        setup = staticmethod(lambda: calls.append("setup"))

    config = Config()
    config.set("worker_class", Worker)
    assert config.worker_class is Worker
    assert calls == ["setup"]


def test_modules_use_only_the_listed_private_names():
    known = {name.rpartition(".")[2] for name in USED} | DOCUMENTED
    for module in PACKAGE.rglob("*.py"):
        assert private_names(ast.parse(module.read_text())) <= known, module


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


def is_own(node: ast.Attribute) -> bool:
    return ast.unparse(node.value) in ("self", "cls")


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
