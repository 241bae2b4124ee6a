"""From the release before to this one under load, host by host, and back."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import pytest

from petstore.storage import migrator
from tests.e2e import earlier
from tests.e2e.upgrading import (
    BASE,
    OLD_SHOP,
    SHOP,
    TARGET,
    Cast,
    Deeds,
    crossing,
    deeds,
    faults,
    settle,
    use_new_deeds,
)
from tests.harness import servers
from tests.harness.clients import Answer, Client
from tests.harness.dns_server import dns_server
from tests.harness.load import countdown, left_today
from tests.harness.patience import NOTING
from tests.harness.stage import new_database, opened
from tests.harness.tls_proxy import tls_proxy
from tests.harness.writers import writing

AMPLE = "--plan enterprise --per-minute 1000000 --per-day 1000000"
PROJECTS = ("shelter", "counted", "before", "both", "again")
PAUSE_SECONDS = 0.01
THERE, BACK = "there.example.org", "back.example.org"


@dataclass
class Stage:
    """Where hosts of both releases run on one database, with a load that goes on."""

    directory: Path
    environ: dict[str, str]

    def cast(self) -> Cast:
        """Migrate the database and create projects, as the release before does."""
        commands = ["migrate"]
        for slug in PROJECTS:
            commands.append(f"projects create {slug.title()} {AMPLE}")
            commands.append(f"keys create --project {slug}")
        lines = earlier.flask(self.environ, *commands)
        return Cast(*(line for line in lines if line.startswith("pet_")))

    def before(self) -> AbstractContextManager[str]:
        """Run a host of the release before for the block; yield its URL."""
        return earlier.serving(self.environ, self.directory / "before.log")

    @contextmanager
    def current(self) -> Iterator[str]:
        """Run a host of this release for the block; yield its URL."""
        with servers.gunicorn(self.directory, self.environ, limits=NOTING) as gunicorn:
            yield gunicorn.url
            assert gunicorn.tracebacks() == []

    @contextmanager
    def writing(self, key: str, *urls: str) -> Iterator[None]:
        """Let clients write on these hosts for the block; nothing of it is lost."""
        hosts = cycle(urls)
        with writing(lambda: HostClient(next(hosts), key), "upgrade") as ledger:
            yield
        with HostClient(urls[0], key) as client:
            assert ledger.faults(client) == []
        assert None not in ledger.statuses


class HostClient(Client):
    """A client of the base domain, which pauses before each request."""

    def send(self, *request: Any, **headers: str) -> Answer:
        time.sleep(PAUSE_SECONDS)
        return super().send(*request, Host=BASE, **headers)


def require(when: str, *deeds: Deeds) -> None:
    """Require that all deeds come out well."""
    found = Counter(fault for each in deeds for fault in faults(each))
    told = [f"{times} times {fault}" for fault, times in found.items()]
    assert not told, f"{when}: {'; '.join(told)}"


def require_exact_counts(cast: Cast, new: str) -> None:
    """Require that each request was counted once; each release has its counters."""
    by_new = cast.counts.pop(new)
    for answers in (by_new, [*chain(*cast.counts.values())]):
        left = left_today(answers)
        assert left == countdown(left)


@pytest.fixture(params=["sqlite", "postgresql and redis"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """An empty database, and names of hosts that lead to the service."""
    earlier.require_installed()
    with ExitStack() as stack:
        names, proxy = (
            stack.enter_context(dns_server()),
            stack.enter_context(tls_proxy()),
        )
        names.put(TARGET, "A", "127.0.0.1")
        for name in (SHOP, OLD_SHOP, THERE, BACK):
            names.put(name, "CNAME", TARGET)
            proxy.issue(name)
        authority = tmp_path / "authority.pem"
        proxy.authority.cert_pem.write_to_path(authority)
        environ = {
            "DATABASE_URL": f"sqlite:///{tmp_path / 'petstore.db'}",
            "WEB_CONCURRENCY": "2",
            "PETSTORE_BASE_DOMAIN": BASE,
            "PETSTORE_DNS_SERVERS": str(names.address),
            "PETSTORE_TLS_ADDRESS": str(proxy.address),
            "PETSTORE_TRUSTED_PROXIES": "1",
            "SSL_CERT_FILE": str(authority),
        }
        if request.param != "sqlite":
            server = request.getfixturevalue("postgresql_server")
            database = new_database(server, tmp_path.name)
            environ["DATABASE_URL"] = stack.enter_context(database)
            environ["REDIS_URL"] = request.getfixturevalue("redis_url")
        yield Stage(tmp_path, environ)


def test_upgrade_and_rollback_fail_no_request_and_lose_nothing(stage: Stage):
    cast = stage.cast()
    with ExitStack() as new_host:
        with stage.before() as old:
            settle(old, cast)
            require("the release before", deeds(old, cast))
            with (
                stage.writing(cast.before, old),
                opened(stage.environ["DATABASE_URL"]),
            ):
                for step in migrator.migrate_in_steps():
                    require(f"the release before, after {step}", deeds(old, cast))
            new = new_host.enter_context(stage.current())
            with stage.writing(cast.both, old, new):
                require("both", crossing(old, new, cast, THERE), deeds(new, cast))
                require("both", crossing(new, old, cast, BACK), deeds(old, cast))
        require("this release", deeds(new, cast), use_new_deeds(new, cast))
        with stage.before() as old:
            with stage.writing(cast.again, old, new):
                require("both again", deeds(old, cast), deeds(new, cast))
            new_host.close()
            earlier.flask(stage.environ, "migrate", "projects list", "keys list")
            require("the release before, again", deeds(old, cast))
            require_exact_counts(cast, new)
