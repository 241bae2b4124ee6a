"""Settings that keep gunicorn and the command line from starting."""

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from tests.harness import servers

PASSWORD = "Geheimnis"


def flask_migrate(environ: dict[str, str]) -> CompletedProcess:
    return servers.flask(environ, "migrate")


both = pytest.mark.parametrize("start", [servers.refused_gunicorn, flask_migrate])


@both
def test_invalid_setting_stops_the_start_with_a_one_line_error(start: Callable):
    ended = start({"DATABASE_URL": f"mysql://u:{PASSWORD}@h/d"})
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = ended.stderr.splitlines()
    assert line.startswith("Error: DATABASE_URL: ")
    assert PASSWORD not in line


@both
def test_unknown_option_of_the_database_is_refused(
    start: Callable, postgresql_server: str
):
    ended = start({"DATABASE_URL": f"{postgresql_server}&bogus=1"})
    assert ended.returncode == 1
    line = ended.stderr.splitlines()[-1]
    assert line.startswith("Error: DATABASE_URL: ")
    assert "bogus" in line


@both
def test_unreachable_database_is_reported_without_its_password(start: Callable):
    ended = start({"DATABASE_URL": f"postgresql://u:{PASSWORD}@127.0.0.1:1/d"})
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("Error: DATABASE_URL: ")
    assert "Traceback" not in ended.stderr
    assert PASSWORD not in ended.stderr
