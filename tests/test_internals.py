"""Private names of libraries: the package uses only those that are listed here."""

import ast
import inspect
import re
from pathlib import Path

import peewee
import pytest
from prometheus_client.mmap_dict import MmapedDict
from redis.asyncio import RedisCluster

import petstore

PACKAGE = Path(petstore.__file__).parent
PAGE = PACKAGE.parent / "docs" / "architecture.md"
MODULES = sorted(PACKAGE.rglob("*.py"))
DOCUMENTED = {"_get_current_object", "_asdict", "_make", "_replace", "_meta"}
USED = {
    "peewee.Database._state",
    "peewee.Database._connect",
    "peewee.__exception_wrapper__",
    "redis.asyncio.RedisCluster.nodes_manager",
    "prometheus_client.mmap_dict.MmapedDict",
}


def test_architecture_page_lists_the_private_names():
    rows = PAGE.read_text().partition("## Undocumented names")[2]
    assert set(re.findall(r"^\| `([^`]+)` \|", rows, re.MULTILINE)) == USED


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


def test_redis_cluster_has_a_node_manager():
    nodes = RedisCluster(host="127.0.0.1").nodes_manager
    first = list(inspect.signature(nodes.initialize).parameters)[:2]
    assert first == ["additional_startup_nodes_info", "last_failed_node_name"]
    assert callable(nodes.move_node_to_end_of_cached_nodes)
    assert callable(nodes.get_node_from_slot)


def test_prometheus_mmap_file_can_be_written_and_read(tmp_path: Path):
    file = MmapedDict(str(tmp_path / "counts.db"))
    file.write_value("key", 2.0, 0.0)
    file.close()
    [(key, value, *_)] = MmapedDict.read_all_values_from_file(
        str(tmp_path / "counts.db")
    )
    assert (key, value) == ("key", 2.0)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_module_uses_only_the_listed_private_names(module: Path):
    known = {name.rpartition(".")[2] for name in USED} | DOCUMENTED
    assert private_names(ast.parse(module.read_text())) <= known


def private_names(tree: ast.AST) -> set[str]:
    """Return the underscore names that a module uses but does not define."""
    own = {node.name for node in ast.walk(tree) if hasattr(node, "name")}
    own |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    found = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.endswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    }
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.startswith("_")
    }
    return (found | imported) - own
