"""deploy/Caddyfile: operator paths, certificates, forwarded addresses, outages."""

import http.client
import json
import ssl

import pytest

from tests import servers
from tests.e2e.conftest import World
from tests.e2e.front import Front, caddy
from tests.e2e.people import BASE

CLOSED = [
    "/metrics",
    "/METRICS",
    "/%6detrics",
    "//metrics",
    "/v1/../metrics",
    f"/internal/tls-allowed?domain={BASE}",
    "/internal",
    "/internal//tls-allowed",
]


@pytest.mark.parametrize("path", CLOSED)
def test_operator_paths_are_not_found(world: World, path: str):
    answer = world.front.get(BASE, path)
    assert answer.status == 404
    assert json.loads(answer.text)["code"] == "not_found"


@pytest.mark.parametrize("host", ["nobody.pets.example.net", "shop.example.com"])
def test_unknown_host_gets_no_certificate(world: World, host: str):
    with pytest.raises(ssl.SSLError):
        world.front.get(host)


def test_forged_x_forwarded_for_is_ignored(world: World):
    left = [
        int(
            world.front.get(BASE, X_Forwarded_For=f"192.0.2.{number}").headers[
                "X-RateLimit-Remaining"
            ]
        )
        for number in (1, 2)
    ]
    assert left[1] == left[0] - 1


def test_links_use_the_host_and_scheme_of_the_client(world: World):
    description = json.loads(world.front.get(BASE, "/openapi.json").text)
    assert description["servers"][-1]["url"] == f"https://{BASE}/v1"


def test_http_redirects_to_https(world: World):
    connection = http.client.HTTPConnection("127.0.0.1", world.front.http)
    connection.request("GET", "/v1/pets?limit=1", headers={"Host": BASE})
    answer = connection.getresponse()
    assert answer.status == 308
    assert answer.headers["Location"] == f"https://{BASE}/v1/pets?limit=1"
    connection.close()


def test_outage_gets_an_error_of_the_usual_form(world: World):
    nowhere = {"PETSTORE_UPSTREAMS": f"127.0.0.1:{servers.free_port()}"}
    front = Front.anywhere(world.front.trusted)
    place = world.directory / "caddy-of-nothing"
    # The authority validates domains at the first Caddy, so share its certificates.
    place.mkdir()
    (place / "storage").symlink_to(world.directory / "caddy" / "storage")
    world.front.get(BASE)
    with caddy(place, front, world.authority, world.caddy_settings | nowhere):
        answer = front.get(BASE)
    assert answer.status == 503
    assert answer.headers["Retry-After"] == "1"
    assert json.loads(answer.text)["code"] == "service_unavailable"
    assert set(json.loads(answer.text)) == {"code", "message", "status"}
