"""From the release before to this one, host by host, and back."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from petstore.storage import migrator
from tests.harness import servers
from tests.harness.dns_server import DnsServer
from tests.harness.patience import NOTING
from tests.harness.stage import new_database, opened
from tests.harness.tls_proxy import TlsProxy
from tests.harness.writers import writing
from tests.together.e2e import earlier
from tests.together.e2e.upgrading import SHOP, TARGET, Cast, Deeds, HostClient

PROJECTS = ("shelter", "writers")
AMPLE = "--plan enterprise --per-minute 1000000 --per-day 1000000"


def require(when: str, deeds: Deeds) -> None:
    """Require that all deeds come out well."""
    assert [(what, came, due) for what, came, due in deeds if came != due] == [], when


@pytest.fixture(params=["sqlite", "postgresql and redis"])
def environ(
    request: pytest.FixtureRequest,
    nameserver: DnsServer,
    proxy: TlsProxy,
    host_settings: dict[str, str],
    tmp_path: Path,
) -> Iterator[dict[str, str]]:
    """The settings of hosts on an empty database, whose names lead to the service."""
    earlier.require_installed()
    nameserver.put(TARGET, "A", "127.0.0.1")
    nameserver.put(SHOP, "CNAME", TARGET)
    proxy.issue(SHOP)
    environ = host_settings | {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'petstore.db'}",
        "WEB_CONCURRENCY": "2",
        "PETSTORE_TRUSTED_PROXIES": "1",
    }
    if request.param == "sqlite":
        yield environ
        return
    server = request.getfixturevalue("postgresql_server")
    redis = request.getfixturevalue("redis_url")
    with new_database(server, tmp_path.name) as url:
        yield environ | {"DATABASE_URL": url, "REDIS_URL": redis}


def test_upgrade_and_rollback_fail_no_request_and_lose_nothing(
    environ: dict[str, str], tmp_path: Path
):
    commands = ["migrate"]
    for slug in PROJECTS:
        commands.append(f"projects create {slug.title()} {AMPLE}")
        commands.append(f"keys create --project {slug}")
    lines = earlier.flask(environ, *commands)
    key, key_of_writers = (line for line in lines if line.startswith("pet_"))
    cast = Cast(key)

    log = tmp_path / "before.log"
    with ExitStack() as stack:
        with earlier.serving(environ, log) as old:
            client = partial(HostClient, old, key_of_writers)
            cast.settle(old)
            require("the release before", cast.deeds(old))
            with writing(client, "upgrade") as ledger:
                with opened(environ):
                    for step in migrator.migrate():
                        require(f"before, after {step}", cast.deeds(old))
                gunicorn = servers.gunicorn(tmp_path, environ, limits=NOTING)
                new = stack.enter_context(gunicorn)
                for _ in range(2):
                    require("this release, beside it", cast.deeds(new.url))
                    require("the release before, beside it", cast.deeds(old))
        with HostClient(new.url, key_of_writers) as reader:
            assert ledger.faults(reader) == []
        assert None not in ledger.statuses
        require("this release", cast.deeds(new.url))
        require("this release alone", cast.new_deeds(new.url))
        assert new.tracebacks() == []
        with earlier.serving(environ, log) as old:
            require("the release before, again", cast.deeds(old))
            stack.close()
            earlier.flask(environ, "migrate", "projects list", "keys list")
            require("the release before alone", cast.deeds(old))
