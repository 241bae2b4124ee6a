"""Trust in the headers that proxies add (PETSTORE_TRUSTED_PROXIES)."""

import json
import urllib.request
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.quotas.database import Counter
from tests.harness.services import serving

PEER = "10.0.0.1"

trusted = pytest.mark.parametrize("environ", [0, 1, 2], indirect=True)


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One engine is enough: addresses are read before the database is used."""
    return sqlite_url


@pytest.fixture
def environ(environ: dict[str, str], request: pytest.FixtureRequest) -> dict[str, str]:
    return environ | {"PETSTORE_TRUSTED_PROXIES": str(request.param)}


def counted_as(client: FlaskClient, forwarded_for: str | None) -> str:
    """Return the address that a request from `PEER` is counted against."""
    sent = {} if forwarded_for is None else {"X-Forwarded-For": forwarded_for}
    Counter.delete().execute()
    client.get("/v1/pets", headers=sent, environ_overrides={"REMOTE_ADDR": PEER})
    # An IPv6 address is counted with others of its site as well, whose name is first.
    [counter] = Counter.select().where(~Counter.subject.endswith("/48"))
    return counter.subject.removeprefix("address:").rpartition("/")[2]


def link_of(client: FlaskClient, project: Project, headers: dict[str, str]) -> str:
    for _ in range(2):
        Pet.add(project.id, name="Rex", category_id=7, status="available")
    return client.get("/v1/pets?limit=1", headers=headers).headers["Link"]


@pytest.mark.parametrize(
    ("environ", "addresses"),
    [
        (0, {None: PEER, "192.0.2.1": PEER, "192.0.2.1, 192.0.2.2": PEER}),
        (
            1,
            {
                None: PEER,
                "192.0.2.1": "192.0.2.1",
                "192.0.2.1, 192.0.2.2, 192.0.2.3": "192.0.2.3",
                "2001:db8:1:2:3::4": "2001:db8:1:2::",
                "192.0.2.1:5678": "192.0.2.1",
                "[2001:db8:1:2:3::4]:443": "2001:db8:1:2::",
                "[2001:db8:1:2:3::4]": "2001:db8:1:2::",
                "[::ffff:192.0.2.1]:1": "192.0.2.1",
                "192.0.2.1:1, 192.0.2.2:2, 192.0.2.3:3": "192.0.2.3",
                ",,,,192.0.2.1": "192.0.2.1",
            },
        ),
        (
            2,
            {
                None: PEER,
                "192.0.2.1": PEER,
                "192.0.2.1:1, 192.0.2.2:2": "192.0.2.1",
                "192.0.2.1, 192.0.2.2, 192.0.2.3": "192.0.2.2",
                "192.0.2.1,192.0.2.2,192.0.2.3": "192.0.2.2",
                '", 192.0.2.1, 192.0.2.2': "192.0.2.1",
            },
        ),
    ],
    indirect=["environ"],
)
def test_number_of_proxies_determines_the_client_address(
    stranger: FlaskClient, addresses: dict[str | None, str]
):
    found = {header: counted_as(stranger, header) for header in addresses}
    assert found == addresses


@pytest.mark.parametrize("environ", [1], indirect=True)
def test_invalid_addresses_are_counted_as_unknown(stranger: FlaskClient):
    nonsense = [
        *["unknown", "unknown:80", "_hidden", "x" * 1000, "1.2.3", "1.2.3:4", "é"],
        *['"', "", " ", '"192.0.2.1, 192.0.2.2"', "192.0.2.1,", '192.0.2.1, "'],
        *["192.0.2.1:", "192.0.2.1:x", "192.0.2.1:1:2", "[192.0.2.1", "[]:443", ":80"],
    ]
    found = {text: counted_as(stranger, text) for text in nonsense}
    assert found == dict.fromkeys(nonsense, "unknown")


@pytest.mark.parametrize("environ", [1], indirect=True)
def test_the_log_shows_the_address_without_its_port(
    stranger: FlaskClient, capfd: pytest.CaptureFixture[str]
):
    stranger.get("/v1/pets", headers={"X-Forwarded-For": "[2001:db8::1]:443"})
    assert json.loads(capfd.readouterr().out)["address"] == "2001:db8::1"


@trusted
def test_no_other_header_sets_the_client_address(stranger: FlaskClient):
    for header in ("Forwarded", "X-Real-IP", "X-Client-IP", "CF-Connecting-IP"):
        spoofed = "for=192.0.2.1" if header == "Forwarded" else "192.0.2.1"
        stranger.environ_base[f"HTTP_{header.upper().replace('-', '_')}"] = spoofed
    assert counted_as(stranger, None) == PEER


@pytest.mark.parametrize(
    ("environ", "forwarded_proto", "scheme"),
    [
        (0, "https", "http"),
        (1, "https", "https"),
        (1, "https, http", "http"),
        (2, "https, http", "https"),
        (2, "http, https, http", "https"),
        (1, '", https', "https"),
        (1, "javascript", "http"),
    ],
    indirect=["environ"],
)
def test_number_of_proxies_determines_the_link_scheme(
    client: FlaskClient, project: Project, forwarded_proto: str, scheme: str
):
    link = link_of(client, project, {"X-Forwarded-Proto": forwarded_proto})
    assert link.startswith(f"<{scheme}://localhost/v1/pets?")


@trusted
def test_forwarded_host_is_never_used(client: FlaskClient, project: Project):
    evil = "evil.example, evil.example, evil.example"
    headers = {f"X-Forwarded-{name}": evil for name in ("Host", "Server", "Prefix")}
    headers |= {"X-Forwarded-Port": "1, 1, 1", "Forwarded": "host=evil.example"}
    link = link_of(client, project, headers | {"Host": "pets.example"})
    assert link == '<http://pets.example/v1/pets?limit=1&after=1>; rel="next"'


@pytest.mark.parametrize("environ", [0], indirect=True)
def test_gunicorn_ignores_forwarded_scheme_and_script_name(
    environ: dict[str, str], tmp_path: Path
):
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-SSL": "on"}
    headers |= {"SCRIPT_NAME": "/v1", "Script-Name": "/v1"}
    with serving(tmp_path, environ) as service:
        for _ in range(2):
            service.send(body={"name": "Rex", "categoryId": 7})
        headers["Authorization"] = f"Bearer {service.key}"
        address = f"{service.url}/v1/pets?limit=1"
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request) as answer:
            assert len(json.load(answer)) == 1
            assert answer.headers["Link"] == f'<{address}&after=1>; rel="next"'
