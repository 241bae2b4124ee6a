"""What stops the start, of gunicorn and of the command line alike."""

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from tests import servers

PASSWORD = "Geheimnis"


def flask_migrate(environ: dict[str, str]) -> CompletedProcess:
    return servers.flask(environ, "migrate")


both = pytest.mark.parametrize("start", [servers.refused_gunicorn, flask_migrate])
UNUSABLE = [("PORT", "x"), ("DATABASE_URL", f"mysql://u:{PASSWORD}@h/d")]


@both
@pytest.mark.parametrize(("name", "value"), UNUSABLE)
def test_it_stops_gunicorn_and_flask_alike_with_one_line(
    sqlite_url: str, start: Callable, name: str, value: str
):
    ended = start({"DATABASE_URL": sqlite_url, name: value})
    assert ended.returncode == 1
    assert ended.stdout == ""
    [line] = ended.stderr.splitlines()
    assert line.startswith(f"Error: {name}: ")
    assert PASSWORD not in line


def test_a_number_of_workers_that_is_none_stops_flask_too(sqlite_url: str):
    ended = flask_migrate({"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "0"})
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = ended.stderr.splitlines()
    assert line.startswith("Error: WEB_CONCURRENCY: must be ")


@both
def test_a_database_that_cannot_be_reached_is_named_without_its_password(
    start: Callable,
):
    ended = start({"DATABASE_URL": f"postgresql://u:{PASSWORD}@127.0.0.1:1/d"})
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("Error: DATABASE_URL: ")
    assert "Traceback" not in ended.stderr
    assert PASSWORD not in ended.stderr
