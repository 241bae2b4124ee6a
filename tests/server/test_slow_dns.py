"""In the event loop, slow DNS of one project delays no other project."""

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
from tests.harness.services import serving
from tests.harness.visitors import Visitor

BASE = "localhost"  # where the service listens


@pytest.fixture
def url(
    new_database: Callable[[str], str], host_settings: dict[str, str], tmp_path: Path
) -> Iterator[str]:
    settings = {"DATABASE_URL": new_database("sqlite"), "WEB_CONCURRENCY": "1"}
    settings |= {"PETSTORE_BASE_DOMAIN": BASE}
    with serving(tmp_path, host_settings | settings) as service:
        yield service.url.replace("127.0.0.1", BASE)
    databases.close()


def verification(url: str, slug: str) -> Callable[[], str]:
    """Return a function that verifies a domain of a new project, SLUG.example.org."""
    project = Project.add(slug, slug, Plan("pro"))
    page = f"/settings/domains/{Domain.add(project, f'{slug}.example.org').id}"
    visitor = Visitor(url, Key.issue(project))
    return lambda: visitor.submit(f"{page}/verify")


def test_quick_verification_overtakes_a_slow_one(url: str, nameserver: DnsServer):
    asked, heard = threading.Event(), threading.Event()

    def twist(answer: dns.message.Message, _is_tcp: bool) -> None:
        if "slow" in answer.question[0].name.to_text():
            asked.set()
            heard.wait(30)

    nameserver.twist = twist
    nameserver.put("quick.example.org", "CNAME", f"quick.{BASE}")
    slow, quick = verification(url, "slow"), verification(url, "quick")
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(slow)
        assert asked.wait(30)
        assert "quick.example.org is yours" in quick()
        assert not answer.done()
        heard.set()
        assert "slow.example.org" in answer.result()
