"""Programs that run to their end, with the exit code that is expected."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.harness.servers import ROOT

WITHIN_SECONDS = 300
# The programs of this environment come first.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def printed_by(command: Sequence[object], status: int = 0, **options: Any) -> str:
    """Run a program with options of `subprocess.run`; return what it prints."""
    words = [str(word) for word in command]
    kinds = {"capture_output": True, "text": True, "timeout": WITHIN_SECONDS}
    done = subprocess.run(words, check=False, **kinds | options)
    assert done.returncode == status, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def printed_in_shell(commands: str, **environ: str) -> str:
    """Run commands in the project's root, as they are printed for a shell."""
    shell = ["bash", "-eu", "-o", "pipefail", "-c", commands]
    return printed_by(shell, cwd=ROOT, env=os.environ | {"PATH": PATH} | environ)
