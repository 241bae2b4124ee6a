"""deploy/requirements.hashed.txt has the pins of requirements.txt, and hashes."""

import re
from importlib.metadata import distribution, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.marks.hashes import HASHED, HEAD, PYTHONS, hashes, is_needed, pins, text_of

NAMES = [pin.partition("==")[0] for pin in pins()]
# Debian 12 has 3.11.2, which needs what later releases do not.
VERSIONS = ["3.11.2", *(f"3.{minor}.9" for minor in PYTHONS)]


def test_file_holds_the_same_pins_and_nothing_but_hashes():
    assert list(hashes()) == pins()
    lines = [text_of(pin, found) for pin, found in hashes().items()]
    assert HASHED.read_text() == HEAD + "".join(lines)


def test_each_pin_has_the_hashes_of_its_source_and_its_wheels():
    for pin, found in hashes().items():
        assert len(found) >= 2, pin
        assert found == sorted(set(found)), pin


@pytest.mark.parametrize(
    ("filename", "is_wanted"),
    [
        ("hiredis-3.5.0.tar.gz", True),
        ("hiredis-3.5.0-cp314-cp314-musllinux_1_2_aarch64.whl", True),
        ("hiredis-3.5.0-cp39-abi3-manylinux_2_28_x86_64.whl", True),
        ("hiredis-3.5.0-py2.py3-none-any.whl", True),
        ("hiredis-3.4.0.tar.gz", False),
        ("hiredis-3.5.0-cp314-cp314t-manylinux_2_28_x86_64.whl", False),
        ("hiredis-3.5.0-cp310-cp310-manylinux_2_28_x86_64.whl", False),
        ("hiredis-3.5.0-cp311-cp311-macosx_10_9_x86_64.whl", False),
    ],
)
def test_files_that_an_operator_may_need_are_told_from_the_others(
    filename: str, is_wanted: bool
):
    assert is_needed(filename, "3.5.0") == is_wanted


@pytest.mark.parametrize("version", VERSIONS)
def test_all_that_the_pinned_packages_need_is_pinned(version: str):
    environment = {
        "python_full_version": version,
        "python_version": ".".join(version.split(".")[:2]),
        "sys_platform": "linux",
        "platform_system": "Linux",
        "extra": "",
    }
    pinned = {canonicalize_name(name) for name in NAMES}
    for name in NAMES:
        for line in requires(name) or []:
            needed = Requirement(line)
            if not needed.marker or needed.marker.evaluate(environment):
                assert canonicalize_name(needed.name) in pinned, f"{name}: {line}"


@pytest.mark.parametrize("pin", pins())
def test_installed_packages_are_those_that_are_pinned(pin: str):
    name, _, version = pin.partition("==")
    assert re.fullmatch(r"[\w.-]+", name)
    assert distribution(name).version == version
