"""Many `flask migrate` that begin at the same instant, started by test_migrate.py.

Each takes far longer to start than to migrate: were they started one after another,
they would also run one after another.
"""

import sys
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier

from flask import Flask

from petstore import create_app

AT_ONCE = 20


def migrate(app: Flask, line: Barrier) -> None:
    """Wait for all the others, then run the command and end with its exit code."""
    line.wait()
    app.cli.main(["migrate"])


if __name__ == "__main__":
    fork = get_context("fork")
    beginning = (create_app(), fork.Barrier(AT_ONCE))
    runners = [fork.Process(target=migrate, args=beginning) for _ in range(AT_ONCE)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    sys.exit(any(runner.exitcode for runner in runners))
