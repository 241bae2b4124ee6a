"""The alerts and the dashboard in deploy/ match the metrics and their documentation."""

import json
import re

import pytest
from flask.testing import FlaskClient

from tests.harness.servers import ROOT

DEPLOY = ROOT / "deploy"
ALERTS = (DEPLOY / "prometheus-alerts.yml").read_text()
DASHBOARD = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
OPERATING = (ROOT / "docs" / "operating.md").read_text()
METRIC = re.compile("petstore_[a-z_]+")
DOCUMENTED = set(re.findall(f"^\\| `({METRIC.pattern})` \\|", OPERATING, re.MULTILINE))


@pytest.fixture
def metrics(client: FlaskClient) -> str:
    """The text of /metrics when every metric has a value."""
    client.get("/v1/pets/9")
    return client.get("/metrics").text


@pytest.fixture
def described(metrics: str) -> set[str]:
    """The names of all metrics, without their creation times."""
    names = re.findall("^# TYPE ([a-z_]+)", metrics, re.MULTILINE)
    return {name for name in names if not name.endswith("_created")}


@pytest.fixture
def served(metrics: str, described: set[str]) -> set[str]:
    """The names of all metrics and of their series."""
    return described | set(re.findall("^([a-z_]+)", metrics, re.MULTILINE))


def expressions() -> list[str]:
    panels = DASHBOARD["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_alerts_use_existing_metrics(served: set[str]):
    assert set(METRIC.findall(ALERTS)) <= served


def test_panels_use_existing_metrics(served: set[str]):
    assert all(set(METRIC.findall(asked)) <= served for asked in expressions())


def test_each_metric_is_documented(described: set[str]):
    assert {name for name in described if METRIC.fullmatch(name)} == DOCUMENTED


def test_dashboard_shows_each_documented_metric():
    shown = " ".join(expressions())
    assert len(DOCUMENTED) >= 8
    assert not [metric for metric in DOCUMENTED if metric not in shown]


def test_panels_have_unique_positions_and_ids():
    panels = DASHBOARD["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len({panel["id"] for panel in panels}) == len(panels)
