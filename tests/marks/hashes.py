"""The hashes of what production installs, in deploy/requirements.hashed.txt.

`python -m tests.marks.hashes` asks the package index for them and writes the file.
"""

import json
import os
import re
from urllib.request import Request, urlopen

from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename

from tests.harness.servers import ROOT
from tests.marks.page import Mark

PINS = ROOT / "requirements.txt"
HASHED = ROOT / "deploy/requirements.hashed.txt"
INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple")
FORMAT = "application/vnd.pypi.simple.v1+json"
PYTHONS = range(11, 15)  # 3.11 to 3.14
PLATFORM = re.compile(r"any|(many|musl)linux.*_(x86_64|aarch64)")
HEAD = """\
# requirements.txt with the hashes of each package's source and of its wheels for Linux
# (glibc and musl, x86_64 and aarch64, Python 3.11 to 3.14). After a change there, run
# `python -m tests.marks.hashes`, which writes this file.
"""


def mark() -> Mark:
    """Compare the pins of both files, and count the hashes."""
    hashed = hashes()
    assert list(hashed) == pins()
    assert all(hashed.values())
    count = sum(len(each) for each in hashed.values())
    return Mark(
        checked="the hashes of what production installs",
        tool="`python -m tests.marks.hashes`, from the index of PyPI",
        result=f"{len(hashed)} packages, {count} hashes",
        changed="`async-timeout`, which redis needs on Debian 12, is pinned; the "
        "checklist and the image install with `--require-hashes`",
    )


def pins() -> list[str]:
    """Return the lines of requirements.txt that pin a version."""
    return re.findall(r"^[^#\s]+==\S+", PINS.read_text(), re.MULTILINE)


def hashes() -> dict[str, list[str]]:
    """Return the hashes that are written, by pin."""
    found = re.findall(
        r"^([^#\s]+==\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$",
        HASHED.read_text(),
        re.MULTILINE,
    )
    return {pin: re.findall("[0-9a-f]{64}", lines) for pin, lines in found}


def write() -> None:
    """Ask the index for the hashes of all pins, and write them."""
    text = {pin: text_of(pin, hashes_of(*pin.split("=="))) for pin in pins()}
    HASHED.write_text(HEAD + "".join(text.values()))


def text_of(pin: str, hashes: list[str]) -> str:
    """Return the lines of one pin."""
    return " \\\n    ".join([pin, *(f"--hash=sha256:{each}" for each in hashes)]) + "\n"


def hashes_of(name: str, version: str) -> list[str]:
    """Return the hashes of the files of a release that an operator may need."""
    address = f"{INDEX.rstrip('/')}/{canonicalize_name(name)}/"
    with urlopen(Request(address, headers={"Accept": FORMAT})) as response:
        files = json.load(response)["files"]
    return sorted(
        file["hashes"]["sha256"]
        for file in files
        if is_needed(file["filename"], version)
    )


def is_needed(filename: str, version: str) -> bool:
    """Return whether it is the source of this version, or a wheel that is used."""
    if not filename.endswith(".whl"):
        return filename.endswith(f"-{version}.tar.gz")
    if f"-{version}-" not in filename:
        return False  # names of old releases are not always valid
    return any(map(is_supported, parse_wheel_filename(filename)[-1]))


def is_supported(tag: Tag) -> bool:
    """Return whether a Python that runs the service can install the wheel."""
    pythons = {f"cp3{minor}" for minor in PYTHONS}
    return bool(PLATFORM.fullmatch(tag.platform)) and (
        tag.interpreter == "py3" or tag.abi == "abi3" or tag.abi in pythons
    )


if __name__ == "__main__":
    write()
