"""flask migrate, and the commands that need a migrated database."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from click.testing import Result

from petstore import migrator
from tests import servers
from tests.cli.migrate_at_once import AT_ONCE

MIGRATIONS = Path(migrator.__file__).parent / "migrations"
NOTHING = "nothing to apply\n"


def steps() -> list[str]:
    """Return the names of all steps in the order in which they are applied."""
    folders = (MIGRATIONS, MIGRATIONS / "counters")
    return [
        step.stem for folder in folders for step in sorted(folder.glob("[0-9]*.py"))
    ]


@pytest.fixture
def environ(unmigrated_url: str) -> dict[str, str]:
    return {"DATABASE_URL": unmigrated_url}


def migrate(environ: dict[str, str]) -> CompletedProcess:
    return servers.flask(environ, "migrate")


def test_migrate_reports_the_applied_steps_once(
    environ: dict[str, str],
):
    first, second = migrate(environ), migrate(environ)
    assert first.stdout == "".join(f"applied {step}\n" for step in steps())
    assert second.stdout == NOTHING
    assert (first.returncode, second.returncode) == (0, 0)
    assert (first.stderr, second.stderr) == ("", "")


def test_concurrent_migrations_apply_each_step_once(
    environ: dict[str, str],
):
    ended = servers.run(environ, "tests.cli.migrate_at_once")
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines(keepends=True)
    applied = [line for line in lines if line != NOTHING]
    assert sorted(applied) == sorted(f"applied {step}\n" for step in steps())
    assert len(lines) - len(applied) >= AT_ONCE - len(steps())


@pytest.mark.parametrize(
    "arguments",
    [("projects", "list"), ("projects", "create", "Shelter"), ("keys", "list")],
)
@pytest.mark.usefixtures("clock")
def test_other_commands_require_migration(
    flask: Callable[..., Result], arguments: tuple
):
    ended = flask(*arguments)
    assert (ended.exit_code, ended.stdout) == (1, "")
    [line] = ended.stderr.splitlines()
    assert line.startswith("Error: the database is not migrated (0001_initial ")
    assert line.endswith("run `flask migrate` first")


def test_gunicorn_does_not_start_before_migration(environ: dict[str, str]):
    ended = servers.refused_gunicorn(environ)
    assert ended.returncode == 1
    lines = [line for line in ended.stderr.splitlines() if "[INFO]" not in line]
    message = "the database is not migrated (0001_initial is pending)"
    assert lines == [f"Error: {message}; run `flask migrate` first"]


def test_gunicorn_starts_after_migration(environ: dict[str, str], tmp_path: Path):
    migrate(environ)
    with servers.gunicorn(tmp_path, environ) as gunicorn:
        assert gunicorn.process.poll() is None
