"""Warnings for the operator when the service starts (README, SECURITY)."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from petstore.cli.checks import startup_warnings
from petstore.settings import Settings, read_settings
from petstore.storage.database import open_databases
from tests.harness.databases import applied_by_a_newer_version
from tests.harness.servers import ROOT
from tests.harness.tls_proxy import tls_proxy

pytestmark = pytest.mark.usefixtures("closed")
LOOPBACK = ("127.0.0.1", 8000)
EVERYWHERE = [("0.0.0.0", 8000), ("::", 8000), ("", 8000)]


@pytest.fixture
def file(sqlite_url: str) -> Path:
    return Path(sqlite_url.removeprefix("sqlite:///"))


@pytest.fixture
def closed(file: Path) -> None:
    """Make all files of the databases private to their owner."""
    for each in file.parent.glob(f"{file.name}*"):
        each.chmod(0o600)


def opened(url: str, **environ: str) -> Settings:
    settings = read_settings({"DATABASE_URL": url, **environ})
    open_databases(settings)
    return settings


def test_safe_configuration_gives_no_warning(sqlite_url: str):
    assert startup_warnings(opened(sqlite_url), [LOOPBACK, *EVERYWHERE]) == []


@pytest.mark.parametrize("end", ["", "-wal"])
def test_file_readable_by_others_gives_a_warning(sqlite_url: str, file: Path, end: str):
    Path(f"{file}{end}").touch()
    Path(f"{file}{end}").chmod(0o644)
    [warning] = startup_warnings(opened(sqlite_url), [LOOPBACK])
    assert warning.startswith(f"{file}")
    assert "can be read by other users" in warning


def test_documented_command_closes_the_files(sqlite_url: str, file: Path):
    for name in (file, Path(f"{file}-wal"), Path(f"{file}.counters")):
        name.touch()
        name.chmod(0o644)
    [command] = re.findall("`(chmod [^`]+)`", (ROOT / "SECURITY.md").read_text())
    command = command.replace("petstore.db", shlex.quote(str(file)))
    subprocess.run(["sh", "-c", command], check=True)
    assert startup_warnings(opened(sqlite_url), [LOOPBACK]) == []


@pytest.mark.parametrize("place", EVERYWHERE)
def test_bypassable_proxy_gives_a_warning(sqlite_url: str, place: tuple):
    settings = opened(sqlite_url, PETSTORE_TRUSTED_PROXIES="1")
    [warning] = startup_warnings(settings, [LOOPBACK, place])
    assert "Listen on 127.0.0.1" in warning


@pytest.mark.parametrize("place", [LOOPBACK, ("::1", 8000), "/run/petstore.sock", 3])
def test_local_address_behind_a_proxy_gives_no_warning(sqlite_url: str, place: object):
    settings = opened(sqlite_url, PETSTORE_TRUSTED_PROXIES="1")
    assert startup_warnings(settings, [place]) == []


def test_unknown_setting_gives_a_warning(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PETSTORE_BASE_DOMAINE", "pets.example.org")
    [warning] = startup_warnings(opened(sqlite_url), [LOOPBACK])
    assert warning.endswith(" is not a setting of this service")


def test_untrusted_redis_certificate_gives_a_warning_with_a_remedy(sqlite_url: str):
    with tls_proxy() as server:
        server.issue("localhost")
        url = f"rediss://:Geheimnis@localhost:{server.address.port}/0"
        [warning] = startup_warnings(opened(sqlite_url, REDIS_URL=url), [LOOPBACK])
    assert "append ?ssl_cert_reqs=none to REDIS_URL" in warning
    assert "Geheimnis" not in warning


def test_database_of_a_newer_version_gives_a_warning(sqlite_url: str):
    settings = opened(sqlite_url)
    with applied_by_a_newer_version("9999_later"):
        [warning] = startup_warnings(settings, [LOOPBACK])
    assert warning.endswith("by a newer version of the service (9999_later)")
