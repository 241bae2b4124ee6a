"""The campaign in which what the service asks over the network stalls, in turn.

What stalls neither refuses nor ends. The trials judge stores and a log that stall.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import dns.flags
import dns.message

from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness import servers
from tests.harness.campaign import Campaign, Run
from tests.harness.clients import PETS
from tests.harness.clusters import Server
from tests.harness.dns_server import DnsServer, dns_server, rrset
from tests.harness.load import load
from tests.harness.postgres import Postgres, postgres, standby_of
from tests.harness.proxies import Proxy, proxy
from tests.harness.services import Service, issue_key
from tests.harness.stage import opened
from tests.harness.visitors import Visitor
from tests.harness.waiting import wait_until
from tests.torture.outages import Fault, calm_trials
from tests.torture.tenants import BASE

WORKERS, CLIENTS, PROJECTS = 2, 4, 4
STALLED_SECONDS = (0.5, 2.0)
HEALTHY_SECONDS = 0.1
RECOVERED_SECONDS = 2.0
FLOOD_RECORDS = 4_000  # 64 KB, the most that fits
TRIES = 10
PET = {"name": "Rex", "categoryId": 1}


def play(run: Run) -> None:
    """Let each sink stall in turn; the service stays alive, and serves afterwards."""
    with ExitStack() as stack:
        enter = stack.enter_context
        primary = enter(postgres())
        standby = enter(standby_of(primary))
        redis = enter(Server(servers.free_port(), run.directory / "redis"))
        database, counters = enter(proxy(primary.port)), enter(proxy(redis.port))
        nameserver = enter(dns_server())
        environ = {
            "DATABASE_URL": primary.url_at(database.port),
            "REDIS_URL": f"redis://127.0.0.1:{counters.port}/0",
            "WEB_CONCURRENCY": str(WORKERS),
            "PETSTORE_BASE_DOMAIN": BASE,
            "PETSTORE_DNS_SERVERS": str(nameserver.address),
        }
        key = issue_key(environ)
        gunicorn = enter(servers.gunicorn(run.directory, environ))
        gunicorn.url = gunicorn.url.replace("127.0.0.1", BASE)
        service = Service(gunicorn, key)
        enter(opened(environ["DATABASE_URL"]))
        clicks = [_verification(service, number) for number in range(PROJECTS)]
        stalls = [
            partial(_silent_dns, nameserver, clicks),
            partial(_flooding_dns, nameserver, clicks),
            partial(_read_only, database, primary, standby),
            partial(_forgotten, database),
            partial(_forgotten, counters),
        ]
        _stall(run, service, stalls)


def _stall(run: Run, service: Service, stalls: list[Callable]) -> None:
    run.figures["back_after_ms"] = 0
    workers = service.workers
    with (
        load(service.url, [""] * WORKERS, keeps_alive=False, path="/healthz") as probes,
        load(service.url, [service.key] * CLIENTS, adds=True),
    ):
        faults = [
            Fault(
                partial(_recover_from, run, service, stall),
                HEALTHY_SECONDS,
                stall.func.__name__,
            )
            for stall in stalls
        ]
        for _ in calm_trials(run, service, probes, faults):
            pass
    run.faults += [f"/healthz: {status}" for status in probes.statuses() - {200}]
    run.require(service.workers == workers, "a worker has restarted")
    run.faults += service.gunicorn.tracebacks()


def _recover_from(run: Run, service: Service, stall: Callable) -> None:
    """Stall for a while; then reads and writes have to be served soon."""
    with stall():
        time.sleep(run.dice.uniform(*STALLED_SECONDS))
    what = stall.func.__name__
    seconds = wait_until(partial(_is_back, service), f"not back after {what}")
    slowest = max(run.figures["back_after_ms"], round(seconds * 1000))
    run.figures["back_after_ms"] = slowest
    is_back = seconds <= run.limit(RECOVERED_SECONDS)
    run.require(is_back, f"back {seconds:.1f} s after {what}")


def _is_back(service: Service) -> bool:
    """Return whether each of some requests is served, on whatever connections."""
    return all(
        service.send(PETS, body).is_served for body in (None, PET) for _ in range(TRIES)
    )


def _verification(service: Service, number: int) -> Callable[[], str]:
    """Return a function that verifies a domain of a new project."""
    project = Project.add(f"Shelter {number}", None, Plan("pro"))
    domain = Domain.add(project, f"shelter-{number}.example.org")
    visitor = Visitor(service.url, Key.issue(project))
    page = f"/settings/domains/{domain.id}"
    return lambda: visitor.submit(f"{page}/verify")


@contextmanager
def _silent_dns(nameserver: DnsServer, clicks: list[Callable]) -> Iterator[None]:
    nameserver.is_silent = True
    with _clicking(clicks):
        yield
    nameserver.is_silent = False


@contextmanager
def _flooding_dns(nameserver: DnsServer, clicks: list[Callable]) -> Iterator[None]:
    """Let each answer be as long as an answer can be."""
    addresses = [f"192.0.{n >> 8}.{n & 255}" for n in range(FLOOD_RECORDS)]
    flood = dns.message.make_response(dns.message.make_query("x.example.org", "A"))
    flood.answer.append(rrset("x.example.org", "A", *addresses))
    rest = flood.to_wire()[2:]

    def answer(wire: bytes, *, is_tcp: bool) -> bytes:
        if is_tcp:
            return wire[:2] + rest  # with the id of the query
        truncated = dns.message.make_response(dns.message.from_wire(wire))
        truncated.flags |= dns.flags.TC
        return truncated.to_wire()

    nameserver.answer = answer
    with _clicking(clicks):
        yield
    del nameserver.answer


@contextmanager
def _clicking(clicks: list[Callable]) -> Iterator[None]:
    with ThreadPoolExecutor(len(clicks)) as people:
        clicked = [people.submit(click) for click in clicks]
        yield
    for each in clicked:
        each.result()


@contextmanager
def _read_only(database: Proxy, primary: Postgres, standby: Postgres) -> Iterator[None]:
    """Let the name lead to the standby, and at last to a server that writes again."""
    database.target = standby.port
    database.cut()
    yield
    database.target = primary.port


@contextmanager
def _forgotten(network: Proxy) -> Iterator[None]:
    network.forget()
    yield


STALLS = (Campaign("stalled sinks", 40, 8, play),)
