"""deploy/Caddyfile and deploy/nginx.conf: paths, addresses, schemes and outages."""

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.message import Message
from itertools import pairwise

import pytest

from tests.harness.form_keys import form_key
from tests.harness.front import BASE, Front, caddy
from tests.harness.nginx import nginx
from tests.harness.servers import free_port
from tests.harness.services import issue_key
from tests.together.e2e.conftest import World

CLOSED = [
    *("/metrics", "/METRICS", "/%6detrics", "//metrics", "/v1/../metrics"),
    *("/internal", "/internal//tls-allowed", f"/internal/tls-allowed?domain={BASE}"),
]


@contextmanager
def caddy_of_nothing(world: World, upstream: str) -> Iterator[Front]:
    """Run another Caddy, whose upstream is away."""
    front = Front.anywhere(world.front.trusted)
    directory = world.directory / "caddy-of-nothing"
    # The authority validates domains at the first Caddy, so share its certificates.
    directory.mkdir()
    (directory / "storage").symlink_to(world.directory / "caddy" / "storage")
    world.front.get(BASE)
    settings = world.caddy_settings | {"PETSTORE_UPSTREAMS": upstream}
    with caddy(directory, front, world.authority.caddy_options, settings):
        yield front


IDLE = {"caddy": caddy_of_nothing, "nginx": lambda _world, upstream: nginx(upstream)}


@pytest.mark.parametrize("path", CLOSED)
def test_operator_paths_are_not_found(front: Front, path: str):
    answer = front.get(BASE, path)
    assert answer.status == 404
    assert answer.json["code"] == "not_found"
    assert answer.headers.get_all("Cache-Control") == ["no-store"]


def test_forged_x_forwarded_for_is_ignored(front: Front):
    answers = [front.get(BASE, X_Forwarded_For=f"192.0.2.{n}") for n in (1, 2, 3)]
    left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]
    # A minute may end between two of them.
    assert any(second == first - 1 for first, second in pairwise(left))


def test_links_use_the_host_and_scheme_of_the_client(front: Front):
    description = front.get(BASE, "/openapi.json").json
    assert description["servers"][-1]["url"] == f"https://{BASE}/v1"


def post(front: Front, path: str, kind: str, body: bytes, cookie: str = "") -> Message:
    """Submit a form of the dashboard, and return the headers of a redirection."""
    with closing(front.connection(BASE)) as connection:
        headers = {"Content-Type": kind, "Cookie": cookie}
        connection.request("POST", f"/dashboard{path}", body, headers)
        answer = connection.getresponse()
        assert (answer.status, len(answer.read()) > 0) == (303, True)
        return answer.headers


def test_file_of_1_9_mib_goes_in(front: Front, world: World):
    key = issue_key(world.instances[0].environ)
    form = "application/x-www-form-urlencoded"
    signed_in = post(front, "/sign-in", form, f"key={key}".encode())
    cookie = signed_in["Set-Cookie"].partition(";")[0]
    part = '--x\r\nContent-Disposition: form-data; name="{}"\r\n\r\n'
    value = form_key(cookie.partition("=")[2])
    fields = part.format("idempotency_key") + f"{value}\r\n"
    fields += part.format('file"; filename="x.csv') + "name,category\n"
    body = fields.encode() + b"Rex,Dogs\n" * 220_000 + b"\r\n--x--\r\n"
    kind = "multipart/form-data; boundary=x"
    asked = post(front, "/animals/import", kind, body, cookie)
    assert "/animals/import/" in asked["Location"]


def test_http_redirects_to_https(front: Front):
    connection = http.client.HTTPConnection("127.0.0.1", front.http)
    connection.request("GET", "/v1/pets?limit=1", headers={"Host": BASE})
    answer = connection.getresponse()
    assert answer.status == 308
    assert answer.headers["Location"] == f"https://{BASE}/v1/pets?limit=1"
    connection.close()


@pytest.mark.parametrize("proxy", IDLE)
def test_outage_gets_an_error_of_the_usual_form(world: World, proxy: str):
    with IDLE[proxy](world, f"127.0.0.1:{free_port()}") as front:
        answer = front.get(BASE)
    assert answer.status == 503
    assert answer.headers["Retry-After"] == "1"
    assert answer.headers.get_all("Cache-Control") == ["no-store"]
    error = answer.json
    assert error["code"] == "service_unavailable"
    assert set(error) == {"code", "message", "status"}
