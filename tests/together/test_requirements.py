"""The pins of what production installs are whole, and hashed."""

import json
import re
from importlib.metadata import packages_distributions, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.core.test_layers import SOURCES, imported
from tests.harness.documents import rows_of
from tests.harness.servers import ROOT

PIN = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)


def pins_of(file: str) -> dict[str, str]:
    """Return the version of each package that a file pins."""
    found = PIN.findall((ROOT / file).read_text())
    return {canonicalize_name(name): version for name, version in found}


def test_hashed_file_has_the_same_pins():
    assert pins_of("deploy/requirements.hashed.txt") == pins_of("requirements.txt")


def test_all_that_the_pinned_packages_need_on_linux_is_pinned():
    pinned = pins_of("requirements.txt")
    # Debian 12 has Python 3.11.2, which needs what later releases do not.
    environment = {"python_full_version": "3.11.2", "python_version": "3.11"}
    for name in pinned.keys() - {"async-timeout"}:
        for needed in map(Requirement, requires(name) or []):
            if not needed.marker or needed.marker.evaluate(environment | {"extra": ""}):
                assert canonicalize_name(needed.name) in pinned, (name, needed)


def test_documented_generators_are_those_that_are_tried():
    pins = json.loads((ROOT / "tests/together/e2e/package.json").read_text())[
        "dependencies"
    ]
    pins |= pins_of("tests/requirements-e2e.txt")
    pins |= pins_of("tests/requirements-clients.txt")
    for generator, version, _ in rows_of("api.md", "Generated clients"):
        assert pins[generator.partition(",")[0]] == version


def test_requirements_begin_with_the_libraries_that_modules_import():
    used = {name.split(".")[0] for module in SOURCES for name in imported(module)}
    libraries = packages_distributions()
    needed = {libraries[name][0] for name in used & libraries.keys()}
    requirements = (ROOT / "requirements.txt").read_text()
    ours, _, _ = requirements.partition("\n\n")
    listed = set(re.findall(r"^([^[\n]+).*==", ours, re.MULTILINE))
    assert listed == needed | {"hiredis"}  # with which redis-py reads replies
