"""The alerts and the dashboard in deploy/ match the metrics and their documentation."""

import json
import re

from flask.testing import FlaskClient

from tests.harness.servers import ROOT

DEPLOY = ROOT / "deploy"
ALERTS = (DEPLOY / "prometheus-alerts.yml").read_text()
PANELS = json.loads((DEPLOY / "grafana-dashboard.json").read_text())["panels"]
OPERATING = (ROOT / "docs" / "operating.md").read_text()
METRIC = re.compile("petstore_[a-z_]+")


def test_alerts_panels_and_docs_have_the_metrics_that_there_are(client: FlaskClient):
    client.get("/v1/pets/9")
    metrics = client.get("/metrics").text
    names = re.findall("^# TYPE ([a-z_]+)", metrics, re.MULTILINE)
    described = {name for name in names if not name.endswith("_created")}
    served = described | set(re.findall("^([a-z_]+)", metrics, re.MULTILINE))
    panels = " ".join(each["expr"] for panel in PANELS for each in panel["targets"])
    assert set(METRIC.findall(ALERTS + panels)) <= served
    rows = f"^\\| `({METRIC.pattern})` \\|"
    documented = set(re.findall(rows, OPERATING, re.MULTILINE))
    assert {name for name in described if METRIC.fullmatch(name)} == documented
    assert not [metric for metric in documented if metric not in panels]
