"""The versions of the service and of the API, each defined in one place."""

import re

from flask.testing import FlaskClient

from petstore.settings import version
from tests.harness.databases import of_one_engine
from tests.harness.servers import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
RELEASES = re.findall(r"^## \[([^]]+)\](?: - (\S+))?$", CHANGELOG, re.MULTILINE)
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_latest_release_in_the_changelog_is_this_version():
    unreleased, latest, *_ = RELEASES
    assert unreleased == ("Unreleased", "")
    assert latest[0] == version.RELEASE


def test_each_release_has_a_version_number_and_a_date():
    for number, day in RELEASES[1:]:
        assert re.fullmatch(r"\d+\.\d+\.\d+", number)
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", day)


def test_changelog_sections_are_of_known_kinds():
    assert set(re.findall("^### (.*)$", CHANGELOG, re.MULTILINE)) <= KINDS


@of_one_engine
def test_openapi_document_has_the_api_version(stranger: FlaskClient):
    described = stranger.get("/openapi.json").json["info"]["version"]
    assert described == version.INTERFACE == "1.0.0"


def test_python_version_file_satisfies_the_readme():
    wanted = (ROOT / ".python-version").read_text().strip()
    readme = (ROOT / "README.md").read_text()
    lowest = re.search(r"Python ([\d.]+) or newer", readme)[1]
    assert tuple(map(int, wanted.split("."))) >= tuple(map(int, lowest.split(".")))
