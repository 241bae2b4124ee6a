"""What an operator is told when the service starts (README, SECURITY)."""

from pathlib import Path

import pytest

from petstore.checks import startup_warnings
from petstore.database import open_databases
from petstore.settings import Settings, read_settings
from tests.hosts.tls_proxy import tls_proxy

LOOPBACK = ("127.0.0.1", 8000)
EVERYWHERE = [("0.0.0.0", 8000), ("::", 8000), ("", 8000)]


@pytest.fixture
def file(sqlite_url: str) -> Path:
    return Path(sqlite_url.removeprefix("sqlite:///"))


@pytest.fixture
def closed(file: Path) -> None:
    """All files of the databases for their owner alone."""
    for each in file.parent.glob(f"{file.name}*"):
        each.chmod(0o600)


def opened(url: str, **environ: str) -> Settings:
    settings = read_settings({"DATABASE_URL": url, **environ})
    open_databases(settings)
    return settings


@pytest.mark.usefixtures("closed")
def test_nothing_is_said_where_nothing_is_open(sqlite_url: str):
    assert startup_warnings(opened(sqlite_url), [LOOPBACK, *EVERYWHERE]) == []


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("end", ["", "-wal"])
def test_a_file_that_others_may_read_is_named(sqlite_url: str, file: Path, end: str):
    Path(f"{file}{end}").touch()
    Path(f"{file}{end}").chmod(0o644)
    [warning] = startup_warnings(opened(sqlite_url), [LOOPBACK])
    assert warning.startswith(f"{file}")
    assert "can be read by other users" in warning


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("place", EVERYWHERE)
def test_a_trusted_proxy_that_can_be_passed_by_is_told(sqlite_url: str, place: tuple):
    settings = opened(sqlite_url, PETSTORE_TRUSTED_PROXIES="1")
    [warning] = startup_warnings(settings, [LOOPBACK, place])
    assert "Listen on 127.0.0.1" in warning


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("place", [LOOPBACK, ("::1", 8000), "/run/petstore.sock", 3])
def test_a_place_behind_the_proxy_is_none(sqlite_url: str, place: object):
    settings = opened(sqlite_url, PETSTORE_TRUSTED_PROXIES="1")
    assert startup_warnings(settings, [place]) == []


def test_of_postgresql_there_is_no_file(postgresql_url: str):
    assert startup_warnings(opened(postgresql_url), EVERYWHERE) == []


@pytest.mark.usefixtures("closed")
def test_a_certificate_of_redis_that_is_refused_is_told_with_what_to_change(
    sqlite_url: str,
):
    with tls_proxy() as server:
        server.issue("localhost")
        url = f"rediss://:Geheimnis@localhost:{server.address.port}/0"
        [warning] = startup_warnings(opened(sqlite_url, REDIS_URL=url), [LOOPBACK])
    assert "append ?ssl_cert_reqs=none to REDIS_URL" in warning
    assert "Geheimnis" not in warning


@pytest.mark.usefixtures("closed")
def test_of_a_redis_that_is_away_the_start_says_nothing(sqlite_url: str):
    settings = opened(sqlite_url, REDIS_URL="rediss://127.0.0.1:1/0")
    assert startup_warnings(settings, [LOOPBACK]) == []
