"""Settings that keep gunicorn and the command line from starting."""

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
def test_invalid_setting_stops_the_start_with_a_one_line_error(
    sqlite_url: str, start: Callable, name: str, value: str
):
    ended = start({"DATABASE_URL": sqlite_url, name: value})
    assert ended.returncode == 1
    assert ended.stdout == ""
    [line] = ended.stderr.splitlines()
    assert line.startswith(f"Error: {name}: ")
    assert PASSWORD not in line


def test_flask_refuses_zero_workers(sqlite_url: str):
    ended = flask_migrate({"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "0"})
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = ended.stderr.splitlines()
    assert line.startswith("Error: WEB_CONCURRENCY: must be ")


@both
def test_unreachable_database_is_reported_without_its_password(
    start: Callable,
):
    ended = start({"DATABASE_URL": f"postgresql://u:{PASSWORD}@127.0.0.1:1/d"})
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("Error: DATABASE_URL: ")
    assert "Traceback" not in ended.stderr
    assert PASSWORD not in ended.stderr
