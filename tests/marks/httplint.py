"""httplint's notes about each response, as bytes on the wire.

It has an environment of its own (requirements-httplint.txt says why).
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.marks.page import Mark
from tests.marks.recorded import files

PYTHON = Path(sys.prefix) / "httplint/bin/python"
LINTER = Path(__file__).with_name("lint_responses.py")
# Notes that are allowed, for which method, path and status, and why.
EXCEPTIONS = {
    "CREATED_WITHOUT_LOCATION": (
        r"PUT /v1/categories/\d+ 201",
        "without it, the target of the request is what was created (RFC 9110)",
    ),
    "BAD_SYNTAX_DETAILED": (
        r"GET /v1 301",
        "a redirect keeps the target byte by byte, also a stray % that a client sent",
    ),
    "DEPRECATION_PAST": (
        r"(GET|HEAD) /v1/pets/\S+ \d+",
        "the specification deprecates getPet, and the date has come",
    ),
    "STATUS_BAD_REQUEST": (".* 400", "the tests send bad requests"),
    "HSTS_NO_SUBDOMAINS": (".*", "subdomains are other projects' hosts"),
    "CSP_HTTP_URI": ("GET /docs 200", "operators may serve their base address by HTTP"),
    "STORE_PUBLIC_UNNECESSARY": (
        r"(GET|HEAD) (/\w+)?/static/.* \d+",
        "Flask says `public` of a file that is kept",
    ),
}


def mark() -> Mark:
    """Lint every response, and find nothing but the exceptions."""
    command = [PYTHON, "-P", LINTER, *files()]  # -P: this file has the library's name
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    notes = [note for note in found["notes"] if note["level"] in ("bad", "warning")]
    unexpected = [note for note in notes if not is_exception(note)]
    assert not unexpected, json.dumps(unexpected[:20], indent=1)
    assert {note["name"] for note in notes} == EXCEPTIONS.keys()
    return Mark(
        checked="each response of the tests of the API, pages and parser",
        tool=f"httplint {found['version']}",
        result=f"{found['seen']:,} responses: 0 bad notes and 0 warnings besides "
        f"{len(EXCEPTIONS)} [exceptions](../tests/marks/httplint.py)",
        changed="`Cache-Control` of pages, probes, errors outside the API and of nginx",
    )


def is_exception(note: dict) -> bool:
    """Return whether a note is one of the exceptions."""
    pattern, _ = EXCEPTIONS.get(note["name"], ("", ""))
    return re.fullmatch(pattern, note["subject"]) is not None
