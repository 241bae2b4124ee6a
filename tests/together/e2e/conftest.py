"""Two instances behind Caddy, with a certificate authority, DNS and a browser."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from petstore.models.projects import Plan
from tests.harness import servers
from tests.harness.front import Front, caddy
from tests.harness.nginx import nginx
from tests.harness.patience import NOTING
from tests.harness.services import issue_key
from tests.together.e2e.authority import Authority, Dns, authority, dns
from tests.together.e2e.people import BASE

TIMEOUT_MS = 60_000  # of the browser


@dataclass
class World:
    """The running servers and their addresses."""

    dns: Dns
    front: Front
    authority: Authority
    instances: list[servers.Gunicorn]
    directory: Path

    def flask(self, *arguments: str) -> str:
        """Run a command of the service and return what it prints."""
        done = servers.flask(self.instances[0].environ, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @property
    def caddy_settings(self) -> dict[str, str]:
        """The environment variables that deploy/Caddyfile reads."""
        places = [instance.url.removeprefix("http://") for instance in self.instances]
        return {"PETSTORE_UPSTREAMS": " ".join(places), "PETSTORE_ASK": places[0]}


@pytest.fixture(scope="session")
def world(postgresql_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """The service as in production, with all its servers on this machine."""
    directory = tmp_path_factory.mktemp("world")
    http, https = servers.free_port(), servers.free_port()
    with ExitStack() as stack:
        names = stack.enter_context(dns(directory / "dns.log"))
        pebble = stack.enter_context(authority(directory, names, http, https))
        environ = {
            "DATABASE_URL": postgresql_server,
            "WEB_CONCURRENCY": "1",
            "PETSTORE_BASE_DOMAIN": BASE,
            "PETSTORE_DNS_SERVERS": names.address,
            "PETSTORE_TLS_ADDRESS": f"127.0.0.1:{https}",
            "PETSTORE_TRUSTED_PROXIES": "1",
            "SSL_CERT_FILE": str(pebble.issued_root),
        }
        instances = [
            stack.enter_context(servers.gunicorn(directory, environ, limits=NOTING))
            for _ in range(2)
        ]
        front = Front(http, https, pebble.issued_root)
        world = World(names, front, pebble, instances, directory)
        stack.enter_context(
            caddy(
                directory / "caddy", front, pebble.caddy_options, world.caddy_settings
            )
        )
        yield world


@pytest.fixture(scope="module", params=["caddy", "nginx"])
def front(request: pytest.FixtureRequest, world: World) -> Iterator[Front]:
    """A proxy in front of the service."""
    if request.param == "caddy":
        yield world.front
        return
    with nginx(world.instances[0].url.removeprefix("http://")) as front:
        yield front


@pytest.fixture(scope="session")
def chromium(world: World) -> Iterator[Browser]:
    """A browser that resolves every host but this one to Caddy."""
    caddy = f"127.0.0.1:{world.front.https}"
    rules = f"--host-resolver-rules=MAP * {caddy}, EXCLUDE localhost, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", rules]
        )
        yield browser
        browser.close()


@pytest.fixture
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How the browser of a visitor differs from others."""
    return getattr(request, "param", {})


@pytest.fixture
def page(chromium: Browser, options: dict[str, Any]) -> Iterator[Page]:
    """A page of somebody who has not been here before."""
    # Unlike the Python clients, the browser does not trust the test's authority.
    context = chromium.new_context(ignore_https_errors=True, **options)
    context.set_default_timeout(TIMEOUT_MS)
    expect.set_options(timeout=TIMEOUT_MS)
    yield context.new_page()
    context.close()


@pytest.fixture
def key(world: World) -> str:
    """A key of a new project."""
    return issue_key(world.instances[0].environ, Plan("pro"))
