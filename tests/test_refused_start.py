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
@pytest.mark.parametrize(
    "server",
    [
        *("mysql://u:{}@h/d", "postgresql://u:{}@127.0.0.1:1/d"),
        "postgresql://u:{}@a..b/d",
    ],
)
def test_bad_database_stops_the_start_with_one_line_without_its_password(
    start: Callable, server: str
):
    ended = start({"DATABASE_URL": server.format(PASSWORD)})
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = [line for line in ended.stderr.splitlines() if '"INFO"' not in line]
    assert line.startswith("Error: DATABASE_URL: ")
    assert PASSWORD not in ended.stderr


@both
def test_unknown_option_of_the_database_is_refused(
    start: Callable, postgresql_server: str
):
    ended = start({"DATABASE_URL": f"{postgresql_server}&bogus=1"})
    assert ended.returncode == 1
    line = ended.stderr.splitlines()[-1]
    assert line.startswith("Error: DATABASE_URL: ")
    assert "bogus" in line
