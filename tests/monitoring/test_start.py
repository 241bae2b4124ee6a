"""Warnings for the operator when the service starts (README, SECURITY)."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from petstore.cli.check import startup_warnings
from petstore.settings import Settings, read_settings
from petstore.storage.database import open_databases
from tests.harness.databases import applied_by_a_newer_version
from tests.harness.servers import ROOT

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


def test_readable_files_give_a_warning_until_the_documented_command_closes_them(
    sqlite_url: str, file: Path
):
    settings = opened(sqlite_url)
    for name in (file, Path(f"{file}-wal"), Path(f"{file}.counters")):
        name.touch()
        name.chmod(0o644)
        [warning] = startup_warnings(settings, [LOOPBACK])
        assert "can be read by other users" in warning
    [command] = re.findall("`(chmod [^`]+)`", (ROOT / "SECURITY.md").read_text())
    command = command.replace("petstore.db", shlex.quote(str(file)))
    subprocess.run(["sh", "-c", command], check=True)
    assert startup_warnings(settings, [LOOPBACK]) == []


def test_bypassable_proxy_gives_a_warning(sqlite_url: str):
    settings = opened(sqlite_url, PETSTORE_TRUSTED_PROXIES="1")
    for place in EVERYWHERE:
        [warning] = startup_warnings(settings, [LOOPBACK, place])
        assert "Listen on 127.0.0.1" in warning
    local = [LOOPBACK, ("::1", 8000), "/run/petstore.sock", 3]
    assert startup_warnings(settings, local) == []


def test_unknown_setting_gives_a_warning(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PETSTORE_BASE_DOMAINE", "pets.example.org")
    [warning] = startup_warnings(opened(sqlite_url), [LOOPBACK])
    assert warning.endswith(" is not a setting of this service")


def test_database_of_a_newer_version_gives_a_warning(sqlite_url: str):
    settings = opened(sqlite_url)
    with applied_by_a_newer_version("9999_later"):
        [warning] = startup_warnings(settings, [LOOPBACK])
    assert warning.endswith("by a newer version of the service (9999_later)")
