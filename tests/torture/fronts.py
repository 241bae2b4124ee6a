"""The service on an engine, reached directly or through a proxy of `deploy/`."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from petstore.timeouts import Limits
from tests.harness import servers
from tests.harness.campaign import Run
from tests.harness.clients import Client
from tests.harness.front import BASE, Front, caddy
from tests.harness.nginx import nginx
from tests.harness.services import Service
from tests.harness.stage import deployed
from tests.harness.waiting import wait_until
from tests.torture.strangers import Place


class Connection(HTTPConnection):
    """A connection to a place, which is made again when a proxy closes it."""

    def __init__(self, host: str, *, place: Place, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._place = place

    def connect(self) -> None:
        self.sock = self._place.connect()


def client_at(place: Place, key: str) -> Client:
    """Return a client of the base domain that connects to the place."""
    return Client(f"http://{BASE}", key, connect=partial(Connection, place=place))


@contextmanager
def deployed_behind(
    run: Run,
    front: str,
    *,
    engine: str,
    has_redis: bool,
    limits: Limits | None = None,
    **settings: str,
) -> Iterator[tuple[Service, Place]]:
    """Run the service behind a front; yield it, and where clients connect to."""
    with ExitStack() as stack:
        if has_redis:
            settings["REDIS_URL"] = stack.enter_context(servers.redis(run.directory))
        if front:
            settings |= {"PETSTORE_BASE_DOMAIN": BASE, "PETSTORE_TRUSTED_PROXIES": "1"}
        service = stack.enter_context(
            deployed(run, engine=engine, limits=limits, **settings)
        )
        yield service, stack.enter_context(FRONTS[front](service, run.directory))


@contextmanager
def _directly(service: Service, _directory: Path) -> Iterator[Place]:
    yield Place(service.gunicorn.port)


@contextmanager
def _behind_caddy(service: Service, directory: Path) -> Iterator[Place]:
    front = Front.anywhere(directory)
    upstream = service.url.removeprefix("http://")
    environ = {"PETSTORE_UPSTREAMS": upstream, "PETSTORE_ASK": upstream}
    own = ["skip_install_trust"]
    with caddy(directory / "caddy", front, own, environ, issuer="internal"):
        place = Place(front.https, is_encrypted=True)
        wait_until(partial(_accepts, place), "Caddy has no certificate")
        yield place


@contextmanager
def _behind_nginx(service: Service, _directory: Path) -> Iterator[Place]:
    with nginx(service.url.removeprefix("http://")) as front:
        yield Place(front.https, is_encrypted=True)


def _accepts(place: Place) -> bool:
    with suppress(OSError), closing(place.connect()):
        return True
    return False


FRONTS = {"": _directly, "caddy": _behind_caddy, "nginx": _behind_nginx}
