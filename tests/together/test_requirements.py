"""The pins of what production installs are whole, and hashed."""

import json
import re
from importlib.metadata import packages_distributions, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from petstore.extensions import EXTENSIONS
from tests.harness.documents import rows_of
from tests.harness.servers import ROOT
from tests.harness.sources import SOURCES, extension_of, imported

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


def libraries_of(extension: str | None) -> set[str]:
    """Return the packages that an extension, or the core, imports."""
    modules = [module for module in SOURCES if extension_of(module) == extension]
    names = {name.split(".")[0] for module in modules for name in imported(module)}
    packages = packages_distributions()
    return {packages[name][0] for name in names & packages.keys()}


def test_requirements_name_what_the_core_and_then_each_extension_imports():
    core = libraries_of(None)
    needed = {"What the core uses": core | {"hiredis"}}  # redis-py uses that
    for name in EXTENSIONS:
        needed[f"Of the extension {name}"] = libraries_of(name) - core
    *blocks, _ = (ROOT / "requirements.txt").read_text().split("\n\n")
    packages = re.compile(r"^([^#[\n]+).*==", re.MULTILINE)
    listed = {b[2:].partition(".")[0]: {*packages.findall(b)} for b in blocks}
    assert listed == {title: names for title, names in needed.items() if names}
