"""deploy/nginx.conf: TLS, forwarded addresses, limits, outages, custom domains."""

import http.client
import json
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from petstore.database import open_databases
from petstore.models.domain_proofs import prove
from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from tests import databases, servers, services
from tests.e2e.conftest import World
from tests.e2e.nginx import Nginx, nginx
from tests.e2e.people import BASE
from tests.e2e.test_front import CLOSED

SHOP = "shop.nginx.example"
CLIENTS = 8
POSTS = 60  # per client


@pytest.fixture(scope="module")
def front(world: World) -> Iterator[Nginx]:
    """nginx in front of one instance."""
    upstream = world.instances[0].url.removeprefix("http://")
    with nginx(upstream) as front:
        yield front


@pytest.mark.parametrize("path", CLOSED)
def test_operator_paths_are_not_found(front: Nginx, path: str):
    answer = front.get(BASE, path)
    assert answer.status == 404
    assert json.loads(answer.text)["code"] == "not_found"


def test_forged_x_forwarded_for_is_ignored(front: Nginx):
    left = [
        int(
            front.get(BASE, X_Forwarded_For=f"192.0.2.{number}").headers[
                "X-RateLimit-Remaining"
            ]
        )
        for number in (1, 2)
    ]
    assert left[1] == left[0] - 1


def test_links_use_the_host_and_scheme_of_the_client(front: Nginx):
    description = json.loads(front.get(f"{BASE}", "/openapi.json").text)
    assert description["servers"][-1]["url"] == f"https://{BASE}/v1"


def test_http_redirects_to_https(front: Nginx):
    connection = http.client.HTTPConnection("127.0.0.1", front.http)
    connection.request("GET", "/v1/pets?limit=1", headers={"Host": BASE})
    answer = connection.getresponse()
    assert answer.status == 308
    assert answer.headers["Location"] == f"https://{BASE}/v1/pets?limit=1"
    connection.close()


def test_quota_refusal_reaches_the_client_with_its_headers(world: World, front: Nginx):
    plan = ("--plan", "enterprise", "--per-minute", "1000", "--per-day", "2")
    slug = world.flask("projects", "create", "Few", *plan)
    key = world.flask("keys", "create", "--project", slug)
    answers = [front.get(BASE, Authorization=f"Bearer {key}") for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert answers[-1].headers["X-RateLimit-Remaining"] == "0"


@pytest.mark.parametrize("size", [65_500, 100_000])
def test_oversized_headers_get_the_usual_error(front: Nginx, size: int):
    answer = front.get(BASE, X_Padding="x" * size)
    assert answer.status == 431
    assert json.loads(answer.text)["code"] == "headers_too_large"


def test_oversized_body_gets_the_usual_error(front: Nginx):
    connection = front.connection(BASE)
    connection.request("POST", "/v1/pets", headers={"Content-Length": "2000000"})
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.load(answer)["code"] == "body_too_large"
    connection.close()


def test_outage_gets_an_error_of_the_usual_form():
    nowhere = f"127.0.0.1:{servers.free_port()}"
    with nginx(nowhere) as front:
        answer = front.get(BASE)
    assert answer.status == 503
    assert answer.headers["Retry-After"] == "1"
    assert json.loads(answer.text)["code"] == "service_unavailable"
    assert set(json.loads(answer.text)) == {"code", "message", "status"}


def test_custom_domain_has_its_own_certificate(world: World, front: Nginx):
    open_databases(read_settings(world.instances[0].environ))
    project = Project.add("Nginx", None, Plan("pro"))
    prove(Domain.add(project, SHOP), "as it should be")
    databases.close()
    key = world.flask("keys", "create", "--project", project.slug)
    with pytest.raises(ssl.SSLError):
        front.get(SHOP)
    front.certificates.issue(f"petstore-{SHOP}", SHOP)
    answer = front.get(SHOP, Authorization=f"Bearer {key}")
    assert (answer.status, answer.text) == (200, "[]")
    assert front.get(f"{project.slug}.{BASE}").status == 401


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_no_post_is_lost_or_doubled_while_workers_are_recycled(
    environ: dict[str, str], tmp_path: Path
):
    environ |= {"WEB_CONCURRENCY": "2", "PETSTORE_TRUSTED_PROXIES": "1"}
    recycling = ("--max-requests", "40", "--max-requests-jitter", "20")
    with (
        services.serving(tmp_path, environ, *recycling) as service,
        nginx(service.url.removeprefix("http://")) as front,
    ):
        first = {worker.pid for worker in service.workers}
        statuses = post_from_many(front, service.key)
        assert statuses == [201] * CLIENTS * POSTS
        assert not first & {worker.pid for worker in service.workers}
        assert animals(front, service.key) == CLIENTS * POSTS


def post_from_many(front: Nginx, key: str) -> list[int]:
    """Send POSTs from many keep-alive clients and return the statuses."""
    statuses: list[int] = []

    def post() -> None:
        connection = front.connection(BASE)
        for _ in range(POSTS):
            connection.request(
                "POST",
                "/v1/pets",
                b'{"name": "Rex", "categoryId": 7}',
                {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        connection.close()

    threads = [threading.Thread(target=post) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


def animals(front: Nginx, key: str) -> int:
    """Return the number of animals, counted page by page."""
    count, after = 0, 0
    while page := json.loads(
        front.get(
            BASE, f"/v1/pets?limit=100&after={after}", Authorization=f"Bearer {key}"
        ).text
    ):
        count, after = count + len(page), page[-1]["id"]
    return count
