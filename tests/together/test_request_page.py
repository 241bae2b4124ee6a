"""docs/request.md names the files that a request enters, in their order."""

import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

from flask.testing import FlaskClient

from tests.harness.documents import code_in, rows_of
from tests.harness.servers import ROOT

PETSTORE = ROOT / "petstore"
CLOCK = "clock.py"  # a test has one of its own in its place


def test_page_names_the_files_that_a_list_enters(client: FlaskClient):
    entered: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PETSTORE):
            entered.append(str(file.relative_to(PETSTORE)))

    client.get("/v1/pets")  # the first one enters more
    sys.setprofile(note)
    try:
        client.get("/v1/pets")
    finally:
        sys.setprofile(None)
    named = [code_in(row[0])[0] for row in rows_of("request.md", "A list")]
    assert CLOCK in named
    assert without_clock(named) == without_clock(dict.fromkeys(entered))


def without_clock(files: Iterable[str]) -> list[str]:
    return [file for file in files if file != CLOCK]
