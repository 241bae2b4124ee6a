"""Run `flask migrate` in many processes at the same instant, for test_migrate.py.

A command takes far longer to start than to migrate, so that commands started one after
another would also run one after another. These processes wait at a barrier instead.
"""

import sys
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier

from flask import Flask

from petstore import create_app

AT_ONCE = 20


def migrate(app: Flask, line: Barrier) -> None:
    """Wait for all other processes, then run the command and exit with its code."""
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
