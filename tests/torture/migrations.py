"""The campaigns that kill concurrent `flask migrate` and then run it again."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from peewee import DatabaseProxy

from petstore.storage.database import counters, db
from tests.harness import databases, servers
from tests.harness.campaign import Campaign, Run
from tests.harness.migrators import LIVES, migrate_twice, watched
from tests.harness.stage import migrate, new_database, opened

AT_ONCE = 20
TRIALS = 120  # a few more than a migration has statements


def _interruptions(run: Run, engine: str) -> None:
    with ExitStack() as stack:
        new_url = partial(_new_file, run.directory)
        if engine == "postgresql":
            new_url = partial(new_database, stack.enter_context(servers.postgresql()))
        with new_url("undisturbed") as url:
            statements: list[int] = []
            with watched(statements.append):
                migrate(url)
            expected = _state(url)
        first = run.dice.randrange(len(statements))
        for trial in run.each_trial():
            # In order, so that a long run covers every statement.
            deaths = _deaths(run, statements[(first + trial) % len(statements)])
            with new_url(f"interrupted_{trial}") as url:
                run.faults += migrate_twice(url, deaths)
                run.require(_state(url) == expected, f"other tables, after {deaths}")


def _deaths(run: Run, statement: int) -> list[int]:
    """Choose whether one, some or all processes die before that statement."""
    doomed = run.dice.choice([1, run.dice.randint(1, AT_ONCE), AT_ONCE])
    deaths = [statement] * doomed + [LIVES] * (AT_ONCE - doomed)
    run.dice.shuffle(deaths)
    return deaths


def _state(url: str) -> list[Any]:
    """Return the tables, their numbers of rows, and the applied migrations."""
    histories = ((db, "migration"), (counters, "counter_migration"))
    with opened(url):
        return [
            (databases.shape_of(database), _rows(database), _history(database, table))
            for database, table in histories
        ]


def _rows(database: DatabaseProxy) -> dict[str, int]:
    return {
        table: database.execute_sql(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        for table in database.get_tables()
    }


def _history(database: DatabaseProxy, table: str) -> list[tuple[str]]:
    return database.execute_sql(f"SELECT name FROM {table} ORDER BY name").fetchall()


@contextmanager
def _new_file(directory: Path, name: str) -> Iterator[str]:
    yield f"sqlite:///{directory / name}.db"


MIGRATIONS = tuple(
    Campaign(f"migrate on {engine}", TRIALS, 3, partial(_interruptions, engine=engine))
    for engine in ("sqlite", "postgresql")
)
