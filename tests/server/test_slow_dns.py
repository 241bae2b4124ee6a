"""In an event loop and in threads, slow DNS of one project delays no other."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dns.message
import pytest

from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness import databases
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE
from tests.harness.services import serving
from tests.harness.visitors import Visitor

DOMAINS = "/settings/domains"
SERVERS = {"sqlite": [], "postgresql": ["--worker-class", "gthread", "--threads", "4"]}


@pytest.fixture(params=SERVERS, ids=["own", "gthread"])
def url(
    request: pytest.FixtureRequest,
    new_database: Callable[[str], str],
    host_settings: dict[str, str],
    tmp_path: Path,
) -> Iterator[str]:
    environ = host_settings | {
        "DATABASE_URL": new_database(request.param),
        "WEB_CONCURRENCY": "1",
    }
    with serving(tmp_path, environ, *SERVERS[request.param]) as service:
        yield service.url
    databases.close()


@pytest.fixture
def heard() -> Iterator[threading.Event]:
    """An event that lets DNS answer for slow.example.org."""
    heard = threading.Event()
    yield heard
    heard.set()


@pytest.fixture
def asked(nameserver: DnsServer, heard: threading.Event) -> threading.Event:
    """An event that is set when DNS is asked for slow.example.org."""
    asked = threading.Event()

    def twist(answer: dns.message.Message, _is_tcp: bool) -> None:
        if "slow" in answer.question[0].name.to_text():
            asked.set()
            heard.wait(30)

    nameserver.twist = twist
    return asked


@pytest.fixture
def verify(url: str) -> Callable[[str], Callable[[], str]]:
    """A function that returns one that verifies a new project's domain."""

    def verify(name: str) -> Callable[[], str]:
        project = Project.add("Slow" if "slow" in name else "Quick", None, Plan("pro"))
        page = f"{DOMAINS}/{Domain.add(project, name).id}"
        visitor = Visitor(url, Key.issue(project))
        return lambda: visitor.submit(f"{page}/verify", on=page)

    return verify


def test_quick_verification_overtakes_a_slow_one(
    verify: Callable,
    nameserver: DnsServer,
    asked: threading.Event,
    heard: threading.Event,
):
    nameserver.put("quick.example.org", "CNAME", f"quick.{BASE}")
    slow, quick = verify("slow.example.org"), verify("quick.example.org")
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(slow)
        assert asked.wait(30)
        assert "quick.example.org is yours" in quick()
        assert not answer.done()
        heard.set()
        assert "slow.example.org" in answer.result()
