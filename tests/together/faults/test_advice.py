"""`flask check` while a store fails: what was found, on one line, with its remedy."""

import json
import socket
from contextlib import ExitStack, suppress

import psycopg
import pytest

from tests.harness import servers
from tests.harness.clusters import Server
from tests.harness.postgres import Postgres

NAMED = "Correct that in its URL or on its server"
START = "Start its server, or correct host and port in its URL"
NO_NAME = "Correct the host in its URL, or repair DNS here"
HANGS = "Its server hangs, a firewall is between, or host, port or TLS of its URL are "
READ_ONLY = "If it is a standby, name the primary server in its URL; otherwise set "
FULL = "Raise max_connections or the limit of the role or the database, or lower "
TLS = "If the server takes only TLS, append ?sslmode=require to its URL; otherwise let "


def check(**stores: str) -> dict[str, tuple[str, str]]:
    """Return status and message of each check, by its name."""
    environ = {f"{name.upper()}_URL": url for name, url in stores.items()}
    ended = servers.flask(environ, "check", "--json")
    assert not ended.stderr  # the lines say what the log would say
    found = json.loads(ended.stdout)
    return {each["check"]: (each["status"], each["message"]) for each in found}


def expect(name: str, found: str, remedy: str, **stores: str) -> None:
    """Let one line be wrong, with what was found and its remedy."""
    told = check(**stores)
    [(wrong, message)] = [
        (each, text) for each, (status, text) in told.items() if status == "wrong"
    ]
    assert wrong == name
    assert found in message
    assert remedy in message
    away = ("skipped", f"not looked at, since {name} is wrong")
    assert told["counters"] == away or name == "counters"


def change(server: Postgres, *statements: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def keeper(server: Postgres) -> str:
    """The URL for a role without any rights."""
    change(server, "DROP ROLE IF EXISTS keeper", "CREATE ROLE keeper LOGIN")
    return server.url.replace("postgres:x@", "keeper:x@")


@pytest.mark.parametrize(
    ("url", "found", "remedy"),
    [
        ("nobody:x@127.0.0.1:{port}/postgres", 'role "nobody" does not exist', NAMED),
        ("postgres:x@127.0.0.1:{port}/none", 'database "none" does not exist', NAMED),
        ("postgres:x@127.0.0.1:{port}/postgres?sslmode=require", "not support", NAMED),
        ("postgres:x@127.0.0.1:{free}/postgres", "Connection refused", START),
        ("postgres:x@db.invalid:{port}/postgres", "failed to resolve", NO_NAME),
        ("postgres:x@127.0.0.1:{silent}/postgres", "timeout expired", HANGS),
    ],
)
def test_url_that_leads_to_no_database(
    server: Postgres, redis: Server, url: str, found: str, remedy: str
):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ports = {"port": server.port, "silent": silent.getsockname()[1]}
        url = f"postgresql://{url}".format(free=servers.free_port(), **ports)
        expect("database", found, remedy, database=url, redis=redis.url)


@pytest.mark.parametrize(
    ("before", "after", "found", "remedy"),
    [
        (
            "ALTER DATABASE postgres SET default_transaction_read_only = on",
            "ALTER DATABASE postgres RESET default_transaction_read_only",
            *("session is read-only", READ_ONLY),
        ),
        ("ALTER ROLE keeper CONNECTION LIMIT 0", "SELECT", "too many connec", FULL),
        ("ALTER ROLE keeper NOLOGIN", "SELECT", "not permitted to log in", NAMED),
        ("SELECT", "SELECT", "table migration. Requests get a 500", NAMED),
    ],
)
def test_postgresql_that_refuses_the_role(
    server: Postgres, keeper: str, before: str, after: str, found: str, remedy: str
):
    change(server, before)
    expect("database", found, remedy, database=keeper)
    change(server, after)


def restart(server: Postgres) -> None:
    server.stop("fast")
    server.start()


def test_postgresql_that_refuses_a_password_or_takes_only_tls(
    server: Postgres, keeper: str
):
    file = server.ask("SHOW hba_file")[0]
    for rule, found, remedy in (
        ("host all keeper all scram-sha-256", "password authentication", NAMED),
        ("hostssl all keeper all trust", "no pg_hba.conf entry", TLS),
        ("host all keeper all trust", "table migration", NAMED),
    ):
        rules = f"VALUES ('{rule}'), ('host all postgres all trust')"
        change(server, f"COPY ({rules}) TO '{file}'")
        restart(server)
        expect("database", found, remedy, database=keeper)


def test_postgresql_that_is_a_standby_hangs_or_is_full(server: Postgres):
    directory = server.ask("SHOW data_directory")[0]
    change(server, f"COPY (SELECT 1) TO '{directory}/standby.signal'")
    restart(server)
    expect("database", "session is read-only", READ_ONLY, database=server.url)
    server.ask("SELECT pg_promote()")
    server.hang()
    expect("database", "timeout expired", HANGS, database=server.url)
    server.go_on()
    with ExitStack() as stack:
        with suppress(psycopg.OperationalError):
            while True:
                stack.enter_context(psycopg.connect(server.url))
        expect("database", "too many clients", FULL, database=server.url)


def test_database_that_is_not_migrated_is_told_without_sql(server: Postgres):
    change(server, "CREATE DATABASE fresh")
    url = server.url.removesuffix("postgres") + "fresh"
    expect("database", "is not migrated", "run `flask migrate` first", database=url)


@pytest.mark.parametrize(
    ("url", "found", "remedy"),
    [
        ("redis://127.0.0.1:{free}/0", "Connection refused", START),
        ("redis://cache.invalid:{port}/0", "not known", NO_NAME),
        ("redis://127.0.0.1:{silent}/0", "Timeout", HANGS),
        ("redis://:wrong@127.0.0.1:{port}/0", "AUTH <password> called", NAMED),
        ("redis://127.0.0.1:{port}/99", "DB index is out of range", NAMED),
        ("redis+cluster://127.0.0.1:{port}", "Cluster mode is not enabled", NAMED),
    ],
)
def test_url_that_leads_to_no_redis(
    sqlite_url: str, redis: Server, url: str, found: str, remedy: str
):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ports = {"port": redis.port, "silent": silent.getsockname()[1]}
        url = url.format(free=servers.free_port(), **ports)
        expect("redis", found, remedy, database=sqlite_url, redis=url)


@pytest.mark.parametrize(
    ("command", "found", "remedy"),
    [
        ("CONFIG SET maxmemory 1000", "OOM command", "Raise its maxmemory"),
        ("REPLICAOF 127.0.0.1 1", "read only replica", "Name the primary server in"),
        ("CONFIG SET min-replicas-to-write 1", "NOREPLICAS", NAMED),
        ("ACL SETUSER default -evalsha", "no permissions", NAMED),
    ],
)
def test_redis_that_does_not_count(
    sqlite_url: str, redis: Server, command: str, found: str, remedy: str
):
    redis.client.execute_command(*command.split())
    expect("counters", found, remedy, database=sqlite_url, redis=redis.url)


@pytest.mark.parametrize("given", ["", ":wrong@"])
def test_redis_that_wants_a_password(sqlite_url: str, redis: Server, given: str):
    redis.client.config_set("requirepass", "right")
    url = redis.url.replace("//", f"//{given}")
    found = "password pair" if given else "Authentication required"
    expect("redis", found, NAMED, database=sqlite_url, redis=url)


def test_redis_that_counts_but_does_not_say_how(sqlite_url: str, redis: Server):
    redis.client.execute_command("ACL", "SETUSER", "default", "-info")
    told = check(database=sqlite_url, redis=redis.url)
    assert told["redis"][0] == "skipped"
    assert "no permissions to run the 'info' command" in told["redis"][1]
    assert told["counters"][0] == "ok"


def test_each_store_that_is_away_has_its_line():
    database, away = (f"127.0.0.1:{servers.free_port()}" for _ in range(2))
    url = f"postgresql://postgres:x@{database}/postgres"
    told = check(database=url, redis=f"redis://{away}/0")
    assert [name for name, (status, _) in told.items() if status == "wrong"] == [
        *("database", "redis")
    ]
    assert told["counters"][0] == "skipped"
