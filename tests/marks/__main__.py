"""Take marks and write docs/marks.md: `make marks`, or `python -m tests.marks NAME …`.

marks.json says how each is taken: a command prints its figures, or a table has them. A
mark that fails prints why and leaves its row as it was; the exit code is 1.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.harness.documents import rows_of
from tests.harness.servers import ROOT
from tests.harness.services import serving
from tests.harness.stage import migrate

PLACE = Path(__file__).parent
MARKS = json.loads((PLACE / "marks.json").read_text())
PAGE = ROOT / "docs" / "marks.md"
HEAD = """\
# Marks

What the service, its interface and its dependencies were checked against. \
`make marks` runs all of it offline and
writes this page; `make marks MARKS="redocly spectral"` renews only these rows. \
`tests/marks/` says how.

## Results

| Mark | What was checked | Tool | Result | What it made us change | Date |
| --- | --- | --- | --- | --- | --- |
"""
STATES = {
    "test": "met by a test",
    "design": "met by design",
    "not met": "not met",
    "does not apply": "do not apply",
}


def main(names: list[str]) -> int:
    """Take the named marks, or all, and return the exit code."""
    has_failed = False
    rows = {row[0]: row for row in rows_of(PAGE.name, "Results")}
    for name in names or MARKS:
        mark = MARKS[name]
        print(f"{name} ...", flush=True)
        if result := counted(mark) if "table" in mark else measured(mark):
            date = datetime.datetime.now(datetime.UTC).date().isoformat()
            cells = (mark["checked"], mark["tool"], result, mark["changed"], date)
            rows[name] = [name, *cells]
        has_failed |= not result
    lines = (f"| {' | '.join(rows[name])} |\n" for name in MARKS if name in rows)
    PAGE.write_text(HEAD + "".join(lines))
    return has_failed


def counted(mark: dict[str, str]) -> str:
    """Return how many requirements of a table are in each state."""
    counts: Counter[str] = Counter()
    for number, state in states_in(mark["table"]):
        counts[state] += requirements_of(number)
    told = [f"{counts[state]} {STATES[state]}" for state in STATES if counts[state]]
    return f"{', '.join(told)} ([table](../tests/marks/{mark['table']}))"


def states_in(table: str) -> list[tuple[str, str]]:
    """Return the number and the state of each row of a page's tables."""
    row = re.compile(
        r"^\| (?P<number>(?:API)?\d\S*).*? \| .*? \| (.*?) \|", re.MULTILINE
    )
    return row.findall((PLACE / table).read_text())


def requirements_of(number: str) -> int:
    """Return how many requirements a row stands for: a section's number is for all."""
    if number.count(".") != 1:
        return 1
    lines = (PLACE / "asvs-5.0.0.csv").read_text().splitlines()
    return sum(line.startswith(f"{number}.") for line in lines)


def measured(mark: dict[str, str]) -> str | None:
    """Return what the command of a mark has found, or None if it has failed."""
    with tempfile.TemporaryDirectory(prefix="petstore-marks-") as directory:
        environ = {"DATABASE_URL": f"sqlite:///{directory}/petstore.db"}
        migrate(environ["DATABASE_URL"])
        with serving(Path(directory), environ) as service:
            path = f"{sys.prefix}/bin:{os.environ['PATH']}"
            given = {"URL": service.url, "KEY": service.key, "DIRECTORY": directory}
            done = subprocess.run(
                mark["command"],
                shell=True,
                cwd=ROOT,
                env=os.environ | given | {"PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
    figures = re.search(mark["figures"], done.stdout, re.MULTILINE)
    if done.returncode or not figures:
        print(done.stdout[-5000:], done.stderr[-5000:])
        return None
    return mark["result"].format(**figures.groupdict())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
