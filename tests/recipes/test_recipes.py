"""A service to which all recipes of docs/recipes.md were applied does what they say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.recipes import recipes

TESTS = Path(__file__).with_name("changed_service.py")


def test_recipes_do_what_they_say(unmigrated_url: str, tmp_path: Path):
    copy = recipes.copy_of_the_service(tmp_path)
    for name in recipes.names():
        recipes.apply(name, copy)
    shutil.copy(TESTS, copy)
    settings = {"DATABASE_URL": unmigrated_url, "PETSTORE_TITLE": "Paws"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", TESTS.name],
        cwd=copy,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
