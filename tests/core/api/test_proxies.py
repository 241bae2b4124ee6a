"""Trust in the headers that proxies add (PETSTORE_TRUSTED_PROXIES)."""

import json
import urllib.request
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.databases import of_one_engine
from tests.harness.services import serving

pytestmark = of_one_engine
PEER = "10.0.0.1"
THREE = "192.0.2.1, 192.0.2.2, 192.0.2.3"
NONSENSE = [
    *["unknown", "unknown:80", "_hidden", "x" * 1000, "1.2.3", "1.2.3:4", "é"],
    *['"', "", " ", '"192.0.2.1, 192.0.2.2"', "192.0.2.1,", '192.0.2.1, "'],
    *["192.0.2.1:", "192.0.2.1:x", "192.0.2.1:1:2", "[192.0.2.1", "[]:443", ":80"],
]
# Whose request it is by a header, by the number of trusted proxies.
ADDRESSES: list[tuple[int, dict[str | None, str]]] = [
    (0, {None: PEER, "192.0.2.1": PEER, THREE: PEER}),
    (
        1,
        {
            None: PEER,
            THREE: "192.0.2.3",
            "2001:db8:1:2:3::4": "2001:db8:1:2:3::4",
            "192.0.2.1:5678": "192.0.2.1",
            "::ffff:192.0.2.1": "192.0.2.1",
            "[2001:db8::1]:443": "2001:db8::1",
            "[2001:db8::1]": "2001:db8::1",
            ",,,,192.0.2.1": "192.0.2.1",
        }
        | dict.fromkeys(NONSENSE, "unknown"),
    ),
    (
        2,
        {
            None: PEER,
            "192.0.2.1": PEER,
            "192.0.2.1:1, 192.0.2.2:2": "192.0.2.1",
            THREE.replace(" ", ""): "192.0.2.2",
            '", 192.0.2.1, 192.0.2.2': "192.0.2.1",
        },
    ),
]


@pytest.fixture
def environ(environ: dict[str, str], request: pytest.FixtureRequest) -> dict[str, str]:
    return environ | {"PETSTORE_TRUSTED_PROXIES": str(request.param)}


@pytest.mark.parametrize(("environ", "addresses"), ADDRESSES, indirect=["environ"])
def test_number_of_proxies_determines_the_client_address(
    stranger: FlaskClient,
    addresses: dict[str | None, str],
    capfd: pytest.CaptureFixture[str],
):
    def address_of(forwarded_for: str | None, **headers: str) -> str:
        if forwarded_for is not None:
            headers["X-Forwarded-For"] = forwarded_for
        peer = {"REMOTE_ADDR": PEER}
        stranger.get("/v1/pets", headers=headers, environ_overrides=peer)
        return json.loads(capfd.readouterr().out)["address"]

    capfd.readouterr()
    assert {header: address_of(header) for header in addresses} == addresses
    spoofed = dict.fromkeys(("X-Real-IP", "X-Client-IP", "CF-Connecting-IP"), "1.1.1.1")
    assert address_of(None, Forwarded="for=1.1.1.1", **spoofed) == PEER


@pytest.mark.parametrize(
    ("environ", "schemes"),
    [
        (0, {"https": "http"}),
        (1, {"https": "https", "https, http": "http", "javascript": "http"}),
        (2, {"https, http": "https", "http, https, http": "https"}),
    ],
    indirect=["environ"],
)
def test_number_of_proxies_determines_the_scheme_and_none_the_host(
    client: FlaskClient, project: Project, schemes: dict[str, str]
):
    for _ in range(2):
        Pet.add(project.id, name="Rex", category_id=7, status="available")
    evil = "evil.example, evil.example, evil.example"
    headers = {f"X-Forwarded-{name}": evil for name in ("Host", "Server", "Prefix")}
    headers |= {"X-Forwarded-Port": "1, 1, 1", "Forwarded": "host=evil.example"}
    headers["Host"] = "pets.example"
    for sent, scheme in schemes.items():
        headers["X-Forwarded-Proto"] = sent
        link = client.get("/v1/pets?limit=1", headers=headers).headers["Link"]
        address = f"{scheme}://pets.example/v1/pets?limit=1&after=1"
        assert link == f'<{address}>; rel="next"'


@pytest.mark.parametrize("environ", [0], indirect=True)
def test_gunicorn_believes_no_proxy_either(environ: dict[str, str], tmp_path: Path):
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-SSL": "on"}
    headers |= {"SCRIPT_NAME": "/v1", "Script-Name": "/v1"}
    with serving(tmp_path, environ) as service:
        for _ in range(2):
            service.send(body={"name": "Rex", "categoryId": 7})
        headers["Authorization"] = f"Bearer {service.key}"
        address = f"{service.url}/v1/pets?limit=1"
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request) as answer:
            assert answer.headers["Link"] == f'<{address}&after=1>; rel="next"'
