"""flask migrate, and what needs a migrated database."""

from collections.abc import Callable
from pathlib import Path

import pytest

from petstore.storage import migrator
from tests.cli.outputs import failure, text_of
from tests.harness import servers
from tests.harness.databases import applied_by_a_newer_version
from tests.harness.migrators import LIVES, migrate_twice

MIGRATIONS = Path(migrator.__file__).parent / "migrations"
NOTHING = "nothing to apply\n"
AT_ONCE = 8


def applied() -> list[str]:
    """Return the lines of all steps in the order in which they are applied."""
    folders = (MIGRATIONS, MIGRATIONS / "counters")
    return [
        f"applied {step.stem}\n"
        for folder in folders
        for step in sorted(folder.glob("[0-9]*.py"))
    ]


@pytest.fixture
def environ(unmigrated_url: str) -> dict[str, str]:
    return {"DATABASE_URL": unmigrated_url}


@pytest.mark.usefixtures("clock")
def test_migrate_reports_the_applied_steps_once(flask: Callable):
    assert text_of(flask("migrate")) == "".join(applied())
    assert text_of(flask("migrate")) == NOTHING


@pytest.mark.usefixtures("clock")
def test_migrate_of_an_older_version_says_in_one_line_that_there_is_a_newer_one(
    flask: Callable,
):
    flask("migrate")
    with applied_by_a_newer_version("9999_later"):
        by = "the database was migrated by a newer version of the service"
        assert text_of(flask("migrate")) == f"{by} (9999_later)\n"
    assert text_of(flask("migrate")) == NOTHING


def test_concurrent_migrations_apply_each_step_once(environ: dict[str, str]):
    assert migrate_twice(environ["DATABASE_URL"], [LIVES] * AT_ONCE) == []
    assert servers.flask(environ, "migrate").stdout == NOTHING


@pytest.mark.parametrize(
    "arguments",
    [("projects", "list"), ("projects", "create", "Shelter"), ("keys", "list")],
)
def test_other_commands_require_migration(flask: Callable, arguments: tuple):
    message = failure(flask(*arguments))
    assert message.startswith("the database is not migrated (0026_domain_columns ")
    assert message.endswith("run `flask migrate` first")


@pytest.mark.parametrize("unmigrated_url", ["sqlite"], indirect=True)
def test_gunicorn_does_not_start_before_migration(environ: dict[str, str]):
    ended = servers.refused_gunicorn(environ)
    assert ended.returncode == 1
    lines = [line for line in ended.stderr.splitlines() if '"INFO"' not in line]
    message = "the database is not migrated (0026_domain_columns is pending)"
    assert lines == [f"Error: {message}; run `flask migrate` first"]


@pytest.mark.usefixtures("clock")
def test_migrated_database_has_no_project_and_no_key(flask: Callable):
    flask("migrate")
    for command in ("projects", "keys"):
        assert text_of(flask(command, "list", "--json")) == "[]\n"
