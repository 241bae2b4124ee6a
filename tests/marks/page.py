"""The page of marks: one row each, of what was checked and with what result."""

import datetime
import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.harness.documents import rows_of
from tests.harness.servers import ROOT

PAGE = ROOT / "docs/marks.md"
NAMES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if "\ndef mark() -> Mark:\n" in path.read_text()
)
HEAD = """\
# Marks

What the service, its interface and its dependencies were checked against. \
`make marks` runs all of it offline and
writes this page; `make marks MARKS="redocly spectral"` renews only these rows. \
Each is a module of `tests/marks/`.

## Results

| Mark | What was checked | Tool | Result | What it made us change | Date |
| --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Mark:
    """What was checked, by which version of which tool, with what result.

    `changed` says in a few words what it made us change.
    """

    checked: str
    tool: str
    result: str
    changed: str = "nothing"


def take(name: str) -> None:
    """Take a mark and write its row, or raise an exception and leave the row alone."""
    mark: Mark = importlib.import_module(f"tests.marks.{name}").mark()
    rows = {row[0]: row for row in written_rows()}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    rows[name] = [name, mark.checked, mark.tool, mark.result, mark.changed, today]
    PAGE.write_text(text_of(rows[known] for known in NAMES if known in rows))


def written_rows() -> list[list[str]]:
    """Return the rows that the page has."""
    return rows_of(PAGE.name, "Results") if PAGE.exists() else []


def text_of(rows: Iterable[list[str]]) -> str:
    """Return the page with these rows."""
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)
