"""The versions of the service and of the API, each defined in one place."""

from flask.testing import FlaskClient

from petstore.settings import INTERFACE, RELEASE
from tests.harness.releases import sections
from tests.harness.servers import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
UNRELEASED, *RELEASES = sections(CHANGELOG)


def test_version_is_that_of_the_latest_release():
    assert UNRELEASED.name == "Unreleased"
    assert RELEASES[0].name == RELEASE


def test_openapi_document_has_the_api_version(stranger: FlaskClient):
    described = stranger.get("/openapi.json").json["info"]["version"]
    assert described == INTERFACE == "1.0.0"
