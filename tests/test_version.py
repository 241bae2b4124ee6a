"""The versions of the service and of the API, each defined in one place."""

import re

from flask.testing import FlaskClient

from petstore.settings import INTERFACE, RELEASE
from tests.harness.releases import release_before, sections
from tests.harness.servers import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
UNRELEASED, *RELEASES = sections(CHANGELOG)


def test_version_is_that_of_the_latest_release():
    assert UNRELEASED.name == "Unreleased"
    assert RELEASES[0].name == RELEASE


def test_release_before_is_the_newest_that_is_not_what_lies_here():
    two, one = "## [1.1.0] - 2026-11-23\n\n- b", "## [1.0.0] - 2026-11-21\n\n- a"
    assert release_before(f"# C\n## [Unreleased]\n\n{two}\n\n{one}\n") == "1.0.0"
    assert release_before(f"# C\n## [Unreleased]\n\n- c\n{two}\n{one}\n") == "1.1.0"


def test_openapi_document_has_the_api_version(stranger: FlaskClient):
    described = stranger.get("/openapi.json").json["info"]["version"]
    assert described == INTERFACE == "1.0.0"


def test_python_version_file_satisfies_the_readme():
    wanted = (ROOT / ".python-version").read_text().strip()
    readme = (ROOT / "README.md").read_text()
    lowest = re.search(r"Python ([\d.]+) or newer", readme)[1]
    assert tuple(map(int, wanted.split("."))) >= tuple(map(int, lowest.split(".")))
