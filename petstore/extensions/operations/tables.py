"""The tables that the migrations have made, as a database itself describes them.

A copy goes through these, not through the models: the models of an extension that is
away are not loaded, but its rows are there.
"""

from contextlib import closing
from graphlib import TopologicalSorter
from typing import NamedTuple

from peewee import Column, SqliteDatabase, Table
from playhouse.migrations import Runner

from petstore.storage import migrator
from petstore.storage.database import Databases, Engine


class StoredTable(NamedTuple):
    """A table of a database, and to which others it refers."""

    name: str
    key: list[str]  # the columns of the primary key
    references: dict[str, str]  # by column, the table to which it refers

    @property
    def table(self) -> Table:
        return Table(self.name)

    def columns(self, names: list[str]) -> list[Column]:
        return [Column(self.table, name) for name in names]


def stored_tables(databases: Databases) -> list[list[StoredTable]]:
    """Return the tables of each database, each after those to which it refers."""
    return [
        _described(database, names)
        for database, names in zip(databases, _made_tables(), strict=True)
    ]


def _made_tables() -> list[list[str]]:
    """Return the tables that the migrations make, of the data and of the counters.

    A schema may contain tables of others, so this makes ours once more, in memory.
    """
    made = []
    for _, runner in migrator.runners(None):
        with closing(SqliteDatabase(":memory:")) as scratch:
            Runner(scratch, runner.directory, runner.table_name).up()
            tables = {*scratch.get_tables()} - {runner.table_name, "sqlite_sequence"}
            made.append(sorted(tables))
    return made


def _described(database: Engine, names: list[str]) -> list[StoredTable]:
    there = set(database.get_tables())
    tables = {name: _describe(database, name) for name in names if name in there}
    needs = {name: table.references.values() for name, table in tables.items()}
    return [tables[name] for name in TopologicalSorter(needs).static_order()]


def _describe(database: Engine, name: str) -> StoredTable:
    return StoredTable(
        name,
        database.get_primary_keys(name),
        {each.column: each.dest_table for each in database.get_foreign_keys(name)},
    )
