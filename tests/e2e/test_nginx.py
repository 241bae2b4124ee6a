"""deploy/nginx.conf: limits, custom domains, and workers that are recycled."""

import json
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path

import pytest

from petstore.models.domains import DnsResult, Domain
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.e2e.conftest import World
from tests.harness import databases
from tests.harness.clients import PETS, Client
from tests.harness.crowds import by_window
from tests.harness.front import BASE
from tests.harness.nginx import Nginx, nginx
from tests.harness.services import issue_key, serving

SHOP = "shop.nginx.example.org"
CLIENTS = 8
POSTS = 60  # per client


@pytest.fixture(scope="module")
def front(world: World) -> Iterator[Nginx]:
    """nginx in front of one instance."""
    upstream = world.instances[0].url.removeprefix("http://")
    with nginx(upstream) as front:
        yield front


def test_quota_refusal_reaches_the_client_with_its_headers(world: World, front: Nginx):
    plan = Plan("enterprise", 1000, 2)
    key = issue_key(world.instances[0].environ, plan)
    answers = [front.get(BASE, Authorization=f"Bearer {key}") for _ in range(5)]
    for today in by_window(answers):
        statuses = [answer.status for answer in today]
        assert statuses == ([200] * 2 + [429] * 3)[: len(today)]
    refused = next(answer for answer in answers if answer.status == 429)
    assert int(refused.headers["Retry-After"]) > 0
    assert refused.headers["X-RateLimit-Remaining"] == "0"


@pytest.mark.parametrize("size", [16_300, 16_400, 100_000])
def test_oversized_headers_get_the_usual_error(front: Nginx, size: int):
    answer = front.get(BASE, X_Padding="x" * size)
    assert answer.status == 431
    assert answer.json["code"] == "headers_too_large"


def test_oversized_target_gets_the_usual_error(front: Nginx):
    answer = front.get(BASE, "/v1/pets/" + "1" * 17_000)
    assert answer.status == 431
    assert answer.json["code"] == "headers_too_large"


def test_oversized_body_gets_the_usual_error(front: Nginx):
    connection = front.connection(BASE)
    connection.request("POST", "/v1/pets", headers={"Content-Length": "2000000"})
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.load(answer)["code"] == "body_too_large"
    connection.close()


@pytest.mark.parametrize(
    ("version", "ciphers", "is_taken"),
    [
        ("TLSv1_1", "ALL:@SECLEVEL=0", False),
        ("TLSv1_2", "ECDHE+AES:!AESGCM:!AESCCM", False),
        ("TLSv1_2", "ECDHE+AESGCM", True),
        ("TLSv1_3", "DEFAULT", True),
    ],
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_tls_begins_with_1_2_and_ciphers_with_forward_secrecy(
    front: Nginx, version: str, ciphers: str, is_taken: bool
):
    context = ssl.create_default_context(cafile=str(front.trusted))
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    context.set_ciphers(ciphers)
    with closing(front.connection(BASE, context)) as connection:
        if is_taken:
            connection.request("GET", "/v1/pets")
            assert connection.getresponse().status == 401
        else:
            with pytest.raises(ssl.SSLError):
                connection.connect()


def test_custom_domain_has_its_own_certificate(world: World, front: Nginx):
    open_databases(read_settings(world.instances[0].environ))
    project = Project.add("Nginx", None, Plan("pro"))
    Domain.add(project, SHOP).record(DnsResult(True, "as it should be"), by_owner=True)
    key = Key.issue(project)
    databases.close()
    with pytest.raises(ssl.SSLError):
        front.get(SHOP)
    front.certificates.issue(f"petstore-{SHOP}", SHOP)
    answer = front.get(SHOP, Authorization=f"Bearer {key}")
    assert (answer.status, answer.json) == (200, [])
    assert front.get(f"{project.slug}.{BASE}").status == 401


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_no_post_is_lost_or_doubled_while_workers_are_recycled(
    environ: dict[str, str], tmp_path: Path
):
    environ |= {"WEB_CONCURRENCY": "2", "PETSTORE_TRUSTED_PROXIES": "1"}
    recycling = ("--max-requests", "40", "--max-requests-jitter", "20")
    with (
        serving(tmp_path, environ, *recycling) as service,
        nginx(service.url.removeprefix("http://")) as front,
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        first = {worker.pid for worker in service.workers}
        statuses = pool.map(post_many, repeat(front, CLIENTS), repeat(service.key))
        assert list(chain(*statuses)) == [201] * CLIENTS * POSTS
        assert not first & {worker.pid for worker in service.workers}
        with Client(service.url, service.key) as client:
            assert len(client.all_of(PETS)) == CLIENTS * POSTS


def post_many(front: Nginx, key: str) -> list[int]:
    """Send POSTs over one connection and return their statuses."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with closing(front.connection(BASE)) as connection:
        statuses = []
        for _ in range(POSTS):
            body = b'{"name": "Rex", "categoryId": 7}'
            connection.request("POST", PETS, body, headers)
            with connection.getresponse() as answer:
                answer.read()
            statuses.append(answer.status)
        return statuses
