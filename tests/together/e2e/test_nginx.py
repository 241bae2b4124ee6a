"""deploy/nginx.conf: limits, TLS and custom domains."""

import http.client
import json
import ssl
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from petstore.extensions.hosting.models import DnsResult, Domain
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.front import BASE
from tests.harness.nginx import Nginx, nginx
from tests.harness.stage import opened
from tests.together.e2e.conftest import World

SHOP = "shop.nginx.example.org"
# Request lines, a header, and the code of the answer.
ERRORS = yaml.safe_load(Path(__file__).with_name("nginx_errors.yaml").read_text())


@pytest.fixture(scope="module")
def front(world: World) -> Iterator[Nginx]:
    """nginx in front of one instance."""
    upstream = world.instances[0].url.removeprefix("http://")
    with nginx(upstream) as front:
        yield front


@pytest.mark.parametrize("size", [16_300, 16_400, 100_000])
def test_oversized_headers_get_the_usual_error(front: Nginx, size: int):
    assert front.get(BASE, X_Padding="x" * size).outcome == "headers_too_large"


@pytest.mark.parametrize(
    ("line", "header", "code"),
    [*ERRORS, (f"GET /{'1' * 17_000} HTTP/1.1", "", "headers_too_large")],
)
@pytest.mark.parametrize("is_encrypted", [True, False])
def test_errors_of_nginx_have_the_usual_form(
    front: Nginx, line: str, header: str, code: str, is_encrypted: bool
):
    answer = told(front, f"{line}\r\nHost: {BASE}\r\n{header}\r\n\r\n", is_encrypted)
    assert answer.headers["Cache-Control"] == "no-store"
    assert json.load(answer)["code"] == code


def test_plain_http_where_tls_is_expected_gets_the_usual_error(front: Nginx):
    plain = replace(front, http=front.https)
    assert json.load(told(plain, "GET / HTTP/1.1\r\n\r\n", False))["status"] == 400


def told(front: Nginx, head: str, is_encrypted: bool) -> http.client.HTTPResponse:
    """Return the answer to a head, which may be none of HTTP."""
    connection = front.connection(BASE)
    if not is_encrypted:
        connection = http.client.HTTPConnection("127.0.0.1", front.http)
    with closing(connection):
        connection.connect()
        connection.sock.sendall(head.encode())
        answer = http.client.HTTPResponse(connection.sock)
        answer.begin()
        return answer


def test_name_of_a_handshake_is_a_path_only_where_it_is_a_name(front: Nginx):
    (front.certificates.live / "petstore-localhost").mkdir()
    front.certificates.issue("petstore-a.b.example.org", "a.b.example.org")
    assert front.get("a.b.example.org", "/healthz").status == 200
    for name in ("localhost", "a_b.example.org", "A.B.example.org"):
        with pytest.raises(ssl.SSLError):
            front.get(name)


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
def test_tls_begins_with_1_2(front: Nginx, version: str, ciphers: str, is_taken: bool):
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
    with opened(world.instances[0].environ):
        project = Project.add("Nginx", None, Plan("pro"))
        domain = Domain.add(project, SHOP)
        domain.record(DnsResult(True, "as it should be"), by_owner=True)
        key = Key.issue(project)
    with pytest.raises(ssl.SSLError):
        front.get(SHOP)
    front.certificates.issue(f"petstore-{SHOP}", SHOP)
    answer = front.get(SHOP, Authorization=f"Bearer {key}")
    assert (answer.status, answer.json) == (200, [])
    assert front.get(f"{project.slug}.{BASE}").status == 401
