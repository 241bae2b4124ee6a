"""What deploy/ asks of the metrics, by alerts and on a dashboard, is there."""

import json
import re

import pytest
from flask.testing import FlaskClient

from petstore.models.domain_checks import record_certificate
from petstore.models.domain_proofs import prove
from petstore.models.domains import Domain
from petstore.models.projects import Project
from tests.servers import ROOT

DEPLOY = ROOT / "deploy"
ALERTS = (DEPLOY / "prometheus-alerts.yml").read_text()
DASHBOARD = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
README = (ROOT / "README.md").read_text()
METRIC = re.compile("petstore_[a-z_]+")


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    """With host routing, since there are no certificates without it."""
    return environ | host_settings


@pytest.fixture
def served(stranger: FlaskClient, project: Project) -> set[str]:
    """Every metric that there is, labels aside."""
    domain = Domain.add(project, "shop.example.org")
    prove(domain, "as it should be")
    record_certificate(domain, "Authority", 10**12, None)
    stranger.get("/v1/pets")
    text = stranger.get("/metrics").text
    described = set(re.findall("^# TYPE ([a-z_]+)", text, re.MULTILINE))
    return described | set(re.findall("^([a-z_]+)", text, re.MULTILINE))


def expressions() -> list[str]:
    panels = DASHBOARD["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_each_alert_asks_for_metrics_that_exist(served: set[str]):
    assert set(METRIC.findall(ALERTS)) <= served


def test_each_panel_asks_for_metrics_that_exist(served: set[str]):
    assert all(set(METRIC.findall(asked)) <= served for asked in expressions())


def test_the_dashboard_shows_each_metric_of_the_readme():
    told = set(METRIC.findall(README.split("\n## Watching it\n")[1].split("\n## ")[0]))
    shown = " ".join(expressions())
    assert len(told) >= 8
    assert not [metric for metric in told if metric not in shown]


def test_each_panel_has_a_place_and_a_number_of_its_own():
    panels = DASHBOARD["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len({panel["id"] for panel in panels}) == len(panels)
