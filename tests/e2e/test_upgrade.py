"""From the release before to this one under load, host by host, and back."""

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

import pytest

from petstore.storage import migrator
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
from tests.harness import earlier, servers
from tests.harness.balancer import BalancedClient, Balancer
from tests.harness.clients import PETS
from tests.harness.crowds import going_on
from tests.harness.dns_server import dns_server
from tests.harness.followers import follow
from tests.harness.load import countdown, left_today
from tests.harness.patience import NOTING
from tests.harness.stage import new_database, opened
from tests.harness.tls_proxy import tls_proxy
from tests.harness.writers import Ledger, writing

AMPLE = "--plan enterprise --per-minute 1000000 --per-day 1000000"
TIGHT = "--plan enterprise --per-minute 1 --per-day 1000000"
PROJECTS = {"shelter": AMPLE, "banned": TIGHT, "counted": AMPLE, "writing": AMPLE}
THERE, BACK = "there.example.org", "back.example.org"


@dataclass
class Stage:
    """Where hosts of both releases run on one database, with a load that goes on."""

    directory: Path
    environ: dict[str, str]
    balancer: Balancer = field(default_factory=Balancer)
    ledger: Ledger = field(default_factory=Ledger)
    seen: list[int] = field(default_factory=list)  # by a client that follows

    def cast(self) -> Cast:
        """Migrate the database and create projects, as the release before does."""
        commands = ["migrate"]
        for slug, plan in PROJECTS.items():
            commands.append(f"projects create {slug.title()} {plan}")
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

    def client(self, cast: Cast) -> BalancedClient:
        """Return a client that writes on the hosts that the balancer leads to."""
        return BalancedClient(self.balancer, cast.writing, BASE)

    @contextmanager
    def load(self, cast: Cast) -> Iterator[None]:
        """Let clients write for the block, and one follow what they add."""
        with (
            self.client(cast) as reader,
            going_on(partial(follow, reader, self.seen)),
            writing(lambda: self.client(cast), "upgrade") as self.ledger,
        ):
            yield

    def require(self, when: str, *deeds: Deeds) -> None:
        """Require that all deeds, and all of the load until now, come out well."""
        found = [fault for each in deeds for fault in faults(each)]
        found += self.ledger.surprises
        found += ["no answer"] * self.ledger.statuses.count(None)
        told = [f"{times} times {fault}" for fault, times in Counter(found).items()]
        assert not told, f"{when}: {'; '.join(told)}"

    def require_nothing_is_lost(self, cast: Cast, new: str) -> None:
        """Require that what was acknowledged is there, once, seen and counted once.

        Each release has counters of its own.
        """
        with self.client(cast) as client:
            assert self.ledger.faults(client) == []
            assert self.seen == [pet["id"] for pet in client.all_of(PETS)]
        by_new = cast.counts.pop(new)
        for answers in (by_new, [*chain(*cast.counts.values())]):
            left = left_today(answers)
            assert left == countdown(left)


@pytest.fixture(params=["sqlite", "postgresql", "postgresql and redis"])
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
            "PETSTORE_BAN_AFTER": "1",
            "PETSTORE_BASE_DOMAIN": BASE,
            "PETSTORE_DNS_SERVERS": str(names.address),
            "PETSTORE_TLS_ADDRESS": str(proxy.address),
            "PETSTORE_TRUSTED_PROXIES": "1",
            "SSL_CERT_FILE": str(authority),
        }
        if "postgresql" in request.param:
            server = request.getfixturevalue("postgresql_server")
            database = new_database(server, tmp_path.name)
            environ["DATABASE_URL"] = stack.enter_context(database)
        if "redis" in request.param:
            environ["REDIS_URL"] = request.getfixturevalue("redis_url")
        yield Stage(tmp_path, environ)


def test_upgrade_and_rollback_fail_no_request_and_lose_nothing(stage: Stage):
    cast, balancer = stage.cast(), stage.balancer
    with ExitStack() as load, ExitStack() as new_host:
        with stage.before() as old:
            settle(old, cast)
            balancer.lead_to(old)
            load.enter_context(stage.load(cast))
            stage.require("the release before", deeds(old, cast))
            with opened(stage.environ["DATABASE_URL"]):
                for step in migrator.migrate_in_steps():
                    stage.require(f"the release before, after {step}", deeds(old, cast))
            new = new_host.enter_context(stage.current())
            balancer.lead_to(old, new)
            stage.require("both", crossing(old, new, cast, THERE), deeds(new, cast))
            stage.require("both", crossing(new, old, cast, BACK), deeds(old, cast))
            balancer.lead_to(new)
        stage.require("this release", deeds(new, cast), use_new_deeds(new, cast))
        with stage.before() as old:
            balancer.lead_to(old, new)
            stage.require("both again", deeds(old, cast), deeds(new, cast))
            balancer.lead_to(old)
            new_host.close()
            earlier.flask(stage.environ, "migrate", "projects list", "keys list")
            stage.require("the release before, again", deeds(old, cast))
            load.close()
            stage.require_nothing_is_lost(cast, new)
