"""What the marks of linters share: the interface description, and how it was linted."""

import tempfile
from pathlib import Path

from tests.harness.linters import lint
from tests.harness.stage import migrate


def linted(linter: str) -> str:
    """Return the number of findings and of the operations that were looked at."""
    with tempfile.TemporaryDirectory(prefix="petstore-marks-") as name:
        directory = Path(name)
        url = f"sqlite:///{directory / 'petstore.db'}"
        migrate(url)
        findings, description = lint(linter, url, directory)
    operations = [
        operation
        for path in description["paths"].values()
        for operation in path.values()
        if "operationId" in operation
    ]
    return f"{len(findings)} findings in {len(operations)} operations"
