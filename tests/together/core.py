"""Try the core alone, with all extensions deleted; `make core` runs this.

In a copy, its tests run, and vulture and mypy look at it. Then mypy looks at a copy
for each extension without that one; tests/together/test_deletions.py starts these.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from petstore.extensions import EXTENSIONS
from tests.harness.deletion import copy_without

BESIDE = (
    *("docs", "deploy", "tests", "wsgi.py", "gunicorn.conf.py", "Procfile"),
    *("README.md", "CHANGELOG.md", "requirements.txt", "setup.cfg", "pyproject.toml"),
)
# What Flask, Peewee, marshmallow, gunicorn and logging call by its name, and names of
# columns and of settings of gunicorn.
CALLED = "Meta,indexes,primary_key,constraints"


def run(copy: Path, *module: str) -> None:
    subprocess.run([sys.executable, "-m", *module], check=True, cwd=copy)


def main() -> None:
    """Raise `CalledProcessError` for what fails."""
    for names in ([*EXTENSIONS], *([name] for name in EXTENSIONS)):
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory)
            print("without", *names, flush=True)
            copy_without(names, copy, *BESIDE)
            run(copy, "mypy")
            if names == [*EXTENSIONS]:
                run(copy, "vulture", "petstore")
                run(copy, "pytest", "tests/core", "--numprocesses=2", "--dist=loadfile")


if __name__ == "__main__":
    main()
