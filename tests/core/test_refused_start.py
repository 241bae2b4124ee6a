"""Settings that keep gunicorn and the command line from starting."""

import socket
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from flask import Flask
from psycopg import Connection

from petstore import create_app
from petstore.models.projects import Project
from petstore.settings import SettingError, read_settings
from petstore.storage.database import close_databases
from tests.harness import servers

PASSWORD = "Geheimnis"


def flask_migrate(environ: dict[str, str]) -> CompletedProcess:
    return servers.flask(environ, "migrate")


def flask_list(environ: dict[str, str]) -> CompletedProcess:
    return servers.flask(environ, "projects", "list")


@pytest.mark.parametrize(
    ("start", "server"),
    [
        (servers.refused_gunicorn, "mysql://u:{}@h/d"),
        (servers.refused_gunicorn, "postgresql://u:{}@127.0.0.1:1/d"),
        (flask_migrate, "postgresql://u:{}@a..b/d"),
    ],
)
def test_bad_database_is_one_line_without_its_password(start: Callable, server: str):
    ended = start({"DATABASE_URL": server.format(PASSWORD)})
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = [line for line in ended.stderr.splitlines() if '"INFO"' not in line]
    assert line.startswith("Error: DATABASE_URL: ")
    assert PASSWORD not in ended.stderr


def test_other_encodings_are_refused(postgresql: Connection, postgresql_server: str):
    postgresql.execute("DROP DATABASE IF EXISTS latin WITH (FORCE)")
    how = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    postgresql.execute(f"CREATE DATABASE latin {how}")
    url = postgresql_server.replace("/postgres?", "/latin?")
    ended = flask_migrate({"DATABASE_URL": url})
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "Error: DATABASE_URL: the encoding is LATIN1; "
        "make a database with ENCODING 'UTF8'"
    )


def test_second_application_with_another_database_is_refused_in_words(
    app: Flask, project: Project, tmp_path: Path
):
    other = read_settings({"DATABASE_URL": f"sqlite:///{tmp_path / 'other.db'}"})
    with pytest.raises(SettingError, match="another application of this process"):
        create_app(other)
    assert Project.find_by_slug(project.slug)
    close_databases()
    assert create_app(other)


has_ipv6 = pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6")


@pytest.mark.parametrize("host", ["127.0.0.1", pytest.param("[::]", marks=has_ipv6)])
def test_taken_port_ends_gunicorn_with_one_line(sqlite_url: str, host: str):
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"{host}:{other.getsockname()[1]}"
        ended = servers.refused_gunicorn({"DATABASE_URL": sqlite_url}, address)
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = [line for line in ended.stderr.splitlines() if '"INFO"' not in line]
    taken = f"Error: {address}: Address already in use"
    assert line == f"{taken}; set PORT to another number, like 8080."


def test_address_of_another_machine_is_told_as_that(sqlite_url: str):
    ended = servers.refused_gunicorn({"DATABASE_URL": sqlite_url}, "192.0.2.1:8080")
    assert ended.stderr.splitlines()[-1] == (
        "Error: 192.0.2.1:8080: Cannot assign requested address; "
        "bind to an address of this machine."
    )


@pytest.mark.parametrize("start", [servers.refused_gunicorn, flask_list])
def test_mistyped_name_of_a_file_leaves_no_file(start: Callable, tmp_path: Path):
    file = tmp_path / "mistyped.db"
    ended = start({"DATABASE_URL": f"sqlite:///{file}"})
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        f"Error: DATABASE_URL: there is no file {file}; run `flask migrate` first"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("worker", ["gevent", "gunicorn.workers.ggevent.GeventWorker"])
def test_worker_that_patches_too_late_is_refused_with_one_line(
    sqlite_url: str, worker: str
):
    environ, options = {"DATABASE_URL": sqlite_url}, ("-k", worker)
    ended = servers.refused_gunicorn(environ, "", *options)
    assert (ended.returncode, ended.stdout) == (1, "")
    [line] = [line for line in ended.stderr.splitlines() if '"INFO"' not in line]
    assert line.startswith(f"Error: workers of the class {worker} would mix requests")


def flask_run(environ: dict[str, str]) -> CompletedProcess:
    return servers.flask(environ, "run", "--port", str(servers.free_port()))


def test_flask_run_is_refused_on_a_database_that_gunicorn_refuses(unmigrated_url: str):
    environ, said = {"DATABASE_URL": unmigrated_url}, []
    for start in (servers.refused_gunicorn, flask_run):
        ended = start(environ)
        assert (ended.returncode, ended.stdout) == (1, "")
        said.append(ended.stderr.splitlines()[-1])
    assert said[0] == said[1]
    assert said[0].startswith("Error: the database is not migrated (")
