"""Two instances behind Caddy, with a certificate authority, DNS and a browser."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from tests import servers
from tests.e2e.authority import Authority, Dns, authority, dns
from tests.e2e.front import Front, caddy
from tests.e2e.people import BASE


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
            stack.enter_context(servers.gunicorn(directory, environ)) for _ in range(2)
        ]
        front = Front(http, https, pebble.issued_root)
        world = World(names, front, pebble, instances, directory)
        stack.enter_context(
            caddy(directory / "caddy", front, pebble, world.caddy_settings)
        )
        yield world


@pytest.fixture
def page(world: World) -> Iterator[Page]:
    """A page of a browser that resolves every host to Caddy."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[
                "--no-sandbox",
                f"--host-resolver-rules=MAP * 127.0.0.1:{world.front.https}",
            ],
        )
        # Unlike the Python clients, the browser does not trust the test's authority.
        page = browser.new_page(ignore_https_errors=True)
        page.set_default_timeout(20_000)
        yield page
        browser.close()
