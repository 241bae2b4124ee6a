"""Take marks and write README.md here: `make marks`, or this module with NAME …

marks.json says how each is taken: a command prints its figures, or a table has them. A
mark that fails prints why and leaves its row as it was; the exit code is 1. Each mark
needs a row in the page before it is taken for the first time.
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

from tests.harness.servers import ROOT
from tests.harness.services import serving
from tests.harness.stage import migrate

PLACE = Path(__file__).parent
MARKS = json.loads((PLACE / "marks.json").read_text())
PAGE = PLACE / "README.md"
STATES = {
    "test": "met by a test",
    "design": "met by design",
    "not met": "not met",
    "does not apply": "do not apply",
}


def main(names: list[str]) -> int:
    """Take the named marks, or all, and return the exit code."""
    has_failed = False
    page = PAGE.read_text()
    for name in names or MARKS:
        mark = MARKS[name]
        print(f"{name} ...", flush=True)
        if result := counted(mark) if "table" in mark else measured(mark):
            date = datetime.datetime.now(datetime.UTC).date().isoformat()
            cells = (name, mark["checked"], mark["tool"], result, date)
            page = re.sub(rf"(?m)^\| {name} \|.*", f"| {' | '.join(cells)} |", page)
        has_failed |= not result
    PAGE.write_text(page)
    return has_failed


def counted(mark: dict[str, str]) -> str:
    """Return how many requirements of a table are in each state."""
    counts: Counter[str] = Counter()
    for number, state in states_in(mark["table"]):
        counts[state] += requirements_of(number)
    told = [f"{counts[state]} {STATES[state]}" for state in STATES if counts[state]]
    return f"{', '.join(told)} ([table]({mark['table']}))"


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
