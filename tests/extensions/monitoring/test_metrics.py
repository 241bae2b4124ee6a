"""/metrics: its format, who may read it, and what it counts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.credentials import new_key
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.models.secrets import Secret
from petstore.settings import INTERFACE, RELEASE
from tests.harness.clocks import Clock
from tests.harness.clusters import Server
from tests.harness.samples import Samples

OURS = [
    *("127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "::1"),
    *("192.168.1.1", "100.64.0.1", "169.254.1.1", "fe80::1", "fe80::1%eth0", "fc00::1"),
    "fdff::1",
]
OTHERS = [
    *("8.8.8.8", "172.32.0.1", "100.128.0.1", "192.0.2.1", "198.18.0.1", "0.0.0.0"),
    *("2600::1", "::", "fe00::1", "unknown"),
]


@pytest.fixture
def scrape(stranger: FlaskClient) -> Callable[[], Samples]:
    """Return a function that reads /metrics without a key."""
    return lambda: Samples(stranger.get("/metrics").text)


@pytest.fixture
def grown(scrape: Callable[[], Samples]) -> Callable[..., float]:
    """Return a function for a metric's growth; all tests share one process."""
    before = scrape()
    return lambda *name, **labels: (
        scrape().total(*name, **labels) - before.total(*name, **labels)
    )


def test_metrics_are_shown_to_peers_of_private_networks_alone(stranger: FlaskClient):
    a_unix_socket = ""
    for peer in (*OURS, a_unix_socket):
        answer = stranger.get("/metrics", environ_overrides={"REMOTE_ADDR": peer})
        assert (peer, answer.status_code) == (peer, 200)
        assert answer.content_type.startswith("text/plain; version=")
        assert "# TYPE petstore_requests_total counter\n" in answer.text
    for peer in OTHERS:
        answer = stranger.get("/metrics", environ_overrides={"REMOTE_ADDR": peer})
        assert (peer, answer.status_code) == (peer, 404)
    for proxied in ("192.0.2.1", "", "127.0.0.1, 192.0.2.1"):
        answer = stranger.get("/metrics", headers={"X-Forwarded-For": proxied})
        assert answer.status_code == 404
        assert "petstore_requests" not in answer.text


def test_refusals_and_bans_are_counted(
    client: FlaskClient,
    stranger: FlaskClient,
    project: Project,
    clock: Clock,
    grown: Callable,
):
    project.change_plan(Plan("enterprise", 1, 10))
    for _ in range(13):
        client.get("/v1/pets")
        clock.move(seconds=1)
    stranger.get("/v1/pets")
    assert grown("petstore_quota_refusals_total", reason="limit") == 10
    assert grown("petstore_quota_refusals_total", reason="banned") == 2
    assert grown("petstore_bans_total") == 1
    counted = "petstore_quota_requests_total"
    assert grown(counted, plan="enterprise", outcome="served") == 1
    assert grown(counted, plan="enterprise", outcome="refused") == 12
    assert grown(counted, plan="none", outcome="served") == 1


def test_build_is_described_and_no_secret_and_no_name_of_a_tenant(
    client: FlaskClient, key: str, project: Project, scrape: Callable[[], Samples]
):
    labels = {"version": RELEASE, "interface": INTERFACE}
    assert scrape().total("petstore_build_info", **labels) == 1
    client.get("/v1/pets/9")
    text = client.get("/metrics").text
    for name in (project.slug, key[:16], Key.select().get().digest.hex()):
        assert name not in text


def test_last_backup_is_shown(app: Flask, scrape: Callable[[], Samples]):
    Secret.put("last_backup", "1799000000123")
    assert scrape().total("petstore_last_backup_timestamp_seconds") == 1_799_000_000.123


class TestWithoutTheDatabase:
    @pytest.fixture
    def database_url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'missing' / 'petstore.db'}"

    def test_database_errors_are_counted(self, client_of: Callable, grown: Callable):
        answer = client_of(new_key()).get("/v1/pets")
        assert answer.status_code == 503
        assert grown("petstore_database_errors_total") == 1


def test_lost_counter_store_is_shown(
    environ: dict[str, str], redis: Server, request: pytest.FixtureRequest
):
    environ["REDIS_URL"] = redis.url
    stranger: FlaskClient = request.getfixturevalue("stranger")
    assert "\npetstore_counter_store_up 1.0\n" in stranger.get("/metrics").text
    redis.kill()
    stranger.get("/v1/pets")
    assert "\npetstore_counter_store_up 0.0\n" in stranger.get("/metrics").text


def test_what_is_refused_before_the_application_sees_it_is_counted(
    app: Flask, stranger: FlaskClient, set_limits: Callable[..., None]
):
    def refused() -> float:
        total = Samples(stranger.get("/metrics").text).total
        return total("petstore_requests_total", operation="refused", status="503")

    before = refused()
    set_limits(waiting_requests=0, running_requests=0, few_requests=0)
    assert stranger.get("/v1/pets").status_code == 503
    assert refused() == before + 1
