"""The version of the service, which is defined in one place."""

from petstore.settings import RELEASE
from tests.harness.releases import sections
from tests.harness.servers import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
UNRELEASED, *RELEASES = sections(CHANGELOG)


def test_version_is_that_of_the_latest_release():
    assert UNRELEASED.name == "Unreleased"
    assert RELEASES[0].name == RELEASE
