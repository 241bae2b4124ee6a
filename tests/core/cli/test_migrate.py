"""flask migrate, and what needs a migrated database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.core.cli.outputs import failure, text_of
from tests.harness import servers
from tests.harness.databases import applied_by_a_newer_version
from tests.harness.servers import ROOT

FILES = (ROOT / "petstore" / "storage" / "migrations").rglob("[0-9]*.py")
STEPS = "".join(f"applied {file.stem}\n" for file in sorted(FILES))
NOTHING = "nothing to apply\n"
AT_ONCE = 4
on_sqlite = pytest.mark.parametrize("unmigrated_url", ["sqlite"], indirect=True)


@pytest.fixture
def environ(unmigrated_url: str) -> dict[str, str]:
    return {"DATABASE_URL": unmigrated_url}


@pytest.mark.usefixtures("clock")
def test_migrate_reports_the_applied_steps_once_and_newer_ones(flask: Callable):
    assert text_of(flask("migrate")) == STEPS
    with applied_by_a_newer_version("9999_later"):
        by = "the database was migrated by a newer version of the service"
        assert text_of(flask("migrate")) == f"{by} (9999_later)\n"
    assert text_of(flask("migrate")) == NOTHING


def test_concurrent_migrations_apply_each_step_once(environ: dict[str, str]):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        pending = [
            pool.submit(servers.flask, environ, "migrate") for _ in range(AT_ONCE)
        ]
        ended = [each.result() for each in pending]
    assert {each.returncode for each in ended} == {0}
    lines = "".join(each.stdout for each in ended).replace(NOTHING, "")
    assert sorted(lines.splitlines()) == sorted(STEPS.splitlines())
    assert servers.flask(environ, "migrate").stdout == NOTHING


@on_sqlite
def test_nothing_else_works_before_migration(flask: Callable, environ: dict[str, str]):
    message = (
        "the database is not migrated (0050_tables is pending); "
        "run `flask migrate` first"
    )
    for command in (["projects", "create", "Shelter"], ["keys", "list"]):
        assert failure(flask(*command)) == message
    ended = servers.refused_gunicorn(environ)
    assert ended.returncode == 1
    lines = [line for line in ended.stderr.splitlines() if '"INFO"' not in line]
    assert lines == [f"Error: {message}"]
