"""Branch coverage of all tests, those that start servers and commands included."""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coverage import Coverage

from tests.harness.servers import ROOT
from tests.marks.page import Mark

DIRECTORY = ROOT / ".marks"
DATA, LOG, REPORT = (DIRECTORY / name for name in ("data", "log", "report.json"))
CONFIGURATION = Path(__file__).with_name("coveragerc")
COVERAGE = [sys.executable, "-m", "coverage"]
OPTION = f"--rcfile={CONFIGURATION}"
TESTS = ["-m", "pytest", "-p", "tests.marks.contexts", "-vv", "--durations=0"]
AT_ONCE = ["--numprocesses=4", "--dist=loadfile", "--no-loadscope-reorder"]


def mark() -> Mark:
    """Run all tests and count the lines and branches that they run."""
    measure()
    found = totals()
    return Mark(
        checked="`petstore/`, by all tests of `make test` and the programs they start",
        tool=f"coverage.py {version('coverage')}",
        result=f"{found['percent_covered']:.1f} % covered: {found['covered_lines']} of"
        f" {found['num_statements']} lines, {found['covered_branches']} of"
        f" {found['num_branches']} branches",
        changed="tests of refusals that none had reached",
    )


def measure() -> None:
    """Run all tests; one that looks at the processes that it starts may fail."""
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    DIRECTORY.mkdir()
    environ = os.environ | {"COVERAGE_FILE": str(DATA)}
    run, combine = [*COVERAGE, "run", OPTION], [*COVERAGE, "combine", "-q", OPTION]
    with LOG.open("w") as log:
        tests = [*run, *TESTS, *AT_ONCE]
        subprocess.run(tests, check=False, env=environ, cwd=ROOT, stdout=log)
    subprocess.run(combine, check=True, env=environ, cwd=ROOT)


def totals() -> dict[str, Any]:
    """Return the numbers of the last run; its report lists what is missing."""
    coverage = Coverage(str(DATA), config_file=str(CONFIGURATION))
    coverage.load()
    coverage.json_report(outfile=str(REPORT))
    return json.loads(REPORT.read_text())["totals"]
