"""flask check: one line for each thing to look at, and the exit code."""

import json
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from peewee import OperationalError

from petstore import clock as service_clock
from petstore.extensions.operations import check
from petstore.extensions.operations.check import LAST_BACKUP, Result
from petstore.models.secrets import Secret
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.core.cli.outputs import text_of
from tests.extensions.hosting.fixtures import BASE
from tests.harness import clusters, databases, servers
from tests.harness.clocks import Clock
from tests.harness.databases import applied_by_a_newer_version
from tests.harness.tls_proxy import tls_proxy

SECRET = "Geheimnis-Geheimnis"
NOWHERE = f"postgresql://u:{SECRET}@127.0.0.1:1/d"
Checked = Callable[..., Result]


@pytest.fixture
def checked() -> Checked:
    """A function that runs one check with some settings."""

    def checked(name: str, **environ: str) -> Result:
        settings = read_settings(environ)
        with databases.set_aside():
            open_databases(settings)
            return check._result(name, check._checks(settings)[name], settings)

    return checked


def statuses(text: str) -> list[list[str]]:
    return [line.split()[:2] for line in text.splitlines()]


def test_each_check_that_passes_is_one_line(flask: Callable):
    Secret.put(LAST_BACKUP, str(service_clock.now_ms()))
    fine = [[name, "ok"] for name in check._checks(read_settings())]
    assert statuses(text_of(flask("check"))) == fine
    found = json.loads(text_of(flask("check", "--json")))
    assert [[each["check"], each["status"]] for each in found] == fine
    assert all(each["message"] for each in found)


@pytest.mark.usefixtures("app")
def test_backup_is_a_warning_after_two_days_and_while_none_is_known(clock: Clock):
    look, settings = check.check_backup, read_settings()
    assert look(settings)[0] == "warning"
    Secret.put(LAST_BACKUP, str(service_clock.now_ms()))
    clock.move(seconds=2 * 24 * 60 * 60)
    assert look(settings) == ("ok", "the last one is 2.0 days old")
    clock.move(seconds=60 * 60)
    assert look(settings)[0] == "warning"


def test_what_is_switched_off_has_no_line():
    alone = check._checks(read_settings({"PETSTORE_EXTENSIONS": "operations"}))
    assert not {"metrics", "proxies", "hosts"} & alone.keys()


def test_newer_migration_is_a_warning_that_exits_with_0(flask: Callable):
    with applied_by_a_newer_version("9999_later"):
        text = text_of(flask("check"))
    assert "(9999_later); run that version" in text
    assert ["database", "warning"] in statuses(text)


def test_failed_check_exits_with_1_after_the_other_checks(sqlite_url: str):
    away = {"DATABASE_URL": sqlite_url, "REDIS_URL": "redis://127.0.0.1:1/0"}
    ended = servers.flask(away, "check")
    assert ended.returncode == 1
    found = statuses(ended.stdout)
    assert [name for name, _ in found] == list(check._checks(read_settings()))
    assert ["redis", "wrong"] in found


def test_url_is_shown_without_secrets():
    url = f"postgresql://pets:{SECRET}@db:5433/pets?password={SECRET}"
    assert check._without_secrets(url) == "postgresql://db:5433/pets"


def test_unknown_setting_is_named(checked: Checked, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PETSTORE_TRUSTED_PROXY", "1")
    status, message = checked("settings")
    assert status == "warning"
    assert message.startswith("PETSTORE_TRUSTED_PROXY is not a setting of this service")


@pytest.mark.parametrize("unmigrated_url", ["sqlite"], indirect=True)
def test_unmigrated_database_is_wrong(checked: Checked, unmigrated_url: str):
    status, message = checked("database", DATABASE_URL=unmigrated_url)
    assert status == "wrong"
    assert "run `flask migrate` first" in message


def test_unreachable_store_is_wrong(checked: Checked, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(check, "REDIS_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for name, url, fault in (
            ("database", NOWHERE, "onnect"),
            ("redis", f"redis://:{SECRET}@127.0.0.1:1/0", "onnect"),
            ("redis", f"redis://:{SECRET}@127.0.0.1:{silent.getsockname()[1]}", "ime"),
        ):
            status, message = checked(name, **{f"{name.upper()}_URL": url})
            assert status == "wrong"
            assert fault in message
            assert SECRET not in message


def test_too_many_connections_are_a_warning(checked: Checked, postgresql_url: str):
    for workers, status in (("1", "ok"), ("100", "warning")):
        environ = {"DATABASE_URL": postgresql_url, "WEB_CONCURRENCY": workers}
        found, message = checked("connections", **environ)
        assert (found, "Set WEB_CONCURRENCY to" in message) == (
            status,
            status == "warning",
        )


def test_stores_that_are_too_old_are_wrong(
    checked: Checked,
    postgresql_url: str,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(check, "OLDEST_POSTGRESQL", 99)
    monkeypatch.setattr(check, "OLDEST_REDIS", 99)
    for name, url in (("database", postgresql_url), ("redis", redis_url)):
        status, message = checked(name, **{f"{name.upper()}_URL": url})
        assert status == "wrong"
        assert message.endswith(" 99 or newer")


@pytest.mark.parametrize(
    ("fault", "code", "remedy"),
    [
        ("database or disk is full", sqlite3.SQLITE_FULL, "Make room on its disk"),
        ("disk I/O error", sqlite3.SQLITE_IOERR, "in the log of the kernel"),
        ("attempt to write a readonly database", sqlite3.SQLITE_READONLY, "directory"),
    ],
)
def test_file_that_cannot_be_written_is_wrong(
    checked: Checked,
    sqlite_url: str,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    code: int,
    remedy: str,
):
    error, cause = OperationalError(fault), sqlite3.OperationalError(fault)
    error.__context__, cause.sqlite_errorcode = cause, code
    monkeypatch.setattr(Secret, "try_database", Mock(side_effect=error))
    status, message = checked("database", DATABASE_URL=sqlite_url)
    assert status == "wrong"
    assert message.startswith(f"{fault}. Requests get a 503. ")
    assert message.endswith(remedy)


def test_file_that_is_locked_or_damaged_is_wrong(checked: Checked, sqlite_url: str):
    file = sqlite_url.removeprefix("sqlite:///")
    with databases.locked(file):
        assert "fuser names it" in checked("database", DATABASE_URL=sqlite_url)[1]
    Path(file).write_bytes(b"garbage " * 4096)
    status, message = checked("database", DATABASE_URL=sqlite_url)
    assert status == "wrong"
    assert message.endswith("Restore it from a backup")


def test_file_that_is_not_there_is_not_looked_at(checked: Checked, tmp_path: Path):
    url = f"sqlite:///{tmp_path}/none.db"
    assert checked("files", DATABASE_URL=url)[0] == "skipped"


def test_little_room_on_the_disk_is_a_warning(
    checked: Checked, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
):
    for free_mib, status in ((500, "ok"), (499, "warning")):
        free = Mock(free=free_mib * 1024**2)
        monkeypatch.setattr("shutil.disk_usage", Mock(return_value=free))
        assert checked("files", DATABASE_URL=sqlite_url)[0] == status


def test_directory_that_takes_no_metrics_is_wrong(checked: Checked, tmp_path: Path):
    assert checked("metrics", PROMETHEUS_MULTIPROC_DIR=f"{tmp_path}/new")[0] == "ok"
    full = Path("/proc/petstore")  # no file can be made there
    status, message = checked("metrics", PROMETHEUS_MULTIPROC_DIR=str(full))
    assert status == "wrong"
    assert "Let the service write there, or set PROMETHEUS_MULTIPROC_DIR" in message


def test_clock_of_redis_more_than_two_seconds_off_is_wrong(
    checked: Checked, sqlite_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    stores = {"DATABASE_URL": sqlite_url, "REDIS_URL": redis_url}
    now_ms = service_clock.now_ms
    for seconds, status in ((0, "ok"), (-5, "wrong"), (5, "wrong")):
        monkeypatch.setattr(
            service_clock, "now_ms", lambda by_ms=seconds * 1000: now_ms() + by_ms
        )
        found, message = checked("counters", **stores)
        assert found == status
        assert ("Let NTP set both" in message) == (status == "wrong")


def test_clock_of_postgresql_more_than_two_seconds_off_is_wrong(
    checked: Checked,
    postgresql_url: str,
    postgresql: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
):
    theirs = Clock()
    theirs.tell_postgresql(postgresql)
    for seconds, status in ((1, "ok"), (-3, "wrong"), (5, "wrong")):
        ours = theirs.now_ms + seconds * 1000
        monkeypatch.setattr(service_clock, "now_ms", lambda now_ms=ours: now_ms)
        found = checked("database", DATABASE_URL=postgresql_url)
        assert found[0] == status
        assert (f"{abs(seconds)}000 ms apart" in found[1]) == (status == "wrong")


def test_files_readable_by_others_are_wrong(checked: Checked, sqlite_url: str):
    for end, mode in (("", 0o640), ("-wal", 0o604), ("-shm", 0o640)):
        file = Path(f"{sqlite_url.removeprefix('sqlite:///')}{end}")
        file.touch(0o600)
        file.chmod(mode)
        status, message = checked("files", DATABASE_URL=sqlite_url)
        assert status == "wrong"
        subprocess.run(message.partition("Close it: ")[2], shell=True, check=True)
        assert checked("files", DATABASE_URL=sqlite_url)[0] == "ok"


def test_no_node_of_redis_may_evict_keys(checked: Checked, tmp_path: Path):
    with clusters.cluster(tmp_path) as cluster:
        assert checked("redis", REDIS_URL=cluster.url)[0] == "ok"
        cluster.nodes[-1].client.config_set("maxmemory-policy", "volatile-ttl")
        status, message = checked("redis", REDIS_URL=cluster.url)
    assert status == "wrong"
    assert "volatile-ttl" in message
    assert "noeviction" in message


def test_untrusted_redis_certificate_is_wrong_with_a_remedy(checked: Checked):
    with tls_proxy() as server:
        server.issue("localhost")
        url = f"rediss://:{SECRET}@localhost:{server.address.port}/0"
        status, message = checked("redis", REDIS_URL=url)
    assert status == "wrong"
    assert "append ?ssl_cert_reqs=none to REDIS_URL" in message
    assert SECRET not in message


def test_base_domain_requires_a_trusted_proxy(checked: Checked):
    assert checked("proxies", PETSTORE_BASE_DOMAIN=BASE)[0] == "wrong"
    assert checked("proxies")[0] == "ok"


def test_base_domain_needs_wildcard(checked: Checked, monkeypatch: pytest.MonkeyPatch):
    found: dict[str, Any] = {}

    def look_up(name: str, *_: object, **__: object) -> list[tuple]:
        if address := found.get(name, found["below"]):
            return [(socket.AF_INET, 0, 0, "", (address, 0))]
        raise socket.gaierror(found.get("why", socket.EAI_NONAME), "no address")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    one, other = "192.0.2.1", "192.0.2.2"
    for own, below, status in (
        (one, one, "ok"),
        (one, other, "warning"),
        (one, None, "wrong"),
        (None, None, "wrong"),
    ):
        found |= {f"{BASE}.": own, "below": below}
        told = checked("hosts", PETSTORE_BASE_DOMAIN=BASE)
        assert told[0] == status
        assert f"*.{BASE}" in told[1]
    found["why"] = socket.EAI_AGAIN
    assert checked("hosts", PETSTORE_BASE_DOMAIN=BASE)[0] == "skipped"
