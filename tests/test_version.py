"""One place for the version of the service, another for that of the interface."""

import re
from configparser import ConfigParser

from flask.testing import FlaskClient

from petstore import version
from tests.servers import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
RELEASES = re.findall(r"^## \[([^]]+)\](?: - (\S+))?$", CHANGELOG, re.MULTILINE)
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_package_takes_its_version_from_there():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert setup["metadata"]["version"] == "attr: petstore.version.SERVICE"


def test_the_changelog_ends_with_this_version_below_what_is_not_released():
    unreleased, latest, *_ = RELEASES
    assert unreleased == ("Unreleased", "")
    assert latest[0] == version.SERVICE


def test_each_release_has_its_number_and_its_day():
    for number, day in RELEASES[1:]:
        assert re.fullmatch(r"\d+\.\d+\.\d+", number)
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", day)


def test_each_change_is_of_a_known_kind():
    assert set(re.findall("^### (.*)$", CHANGELOG, re.MULTILINE)) <= KINDS


def test_the_description_carries_the_version_of_the_interface(stranger: FlaskClient):
    described = stranger.get("/openapi.json").json["info"]["version"]
    assert described == version.INTERFACE == "1.0.0"


def test_platforms_install_a_python_that_the_package_takes():
    wanted = (ROOT / ".python-version").read_text().strip()
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lowest = setup["options"]["python_requires"].removeprefix(">=")
    assert tuple(map(int, wanted.split("."))) >= tuple(map(int, lowest.split(".")))
