"""Many `flask migrate` at once that die at a statement, then as many that do not.

Started by migrations.py. The arguments: at which statement each dies, counted from 1;
0 lives. The last lines are the exit codes of all, and of their successors.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any

import peewee
from flask import Flask

from petstore import create_app

LIVES = 0


@contextmanager
def watched(watch: Callable[[int], object]) -> Iterator[None]:
    """Call it before each statement, with the number of the statement."""
    execute, numbers = peewee.Database.execute_sql, count(1)

    def watched_execute(*arguments: Any, **options: Any) -> Any:
        watch(next(numbers))
        return execute(*arguments, **options)

    peewee.Database.execute_sql = watched_execute
    try:
        yield
    finally:
        peewee.Database.execute_sql = execute


def migrate(app: Flask, line: Barrier, death: int) -> None:
    """Wait for all the others, run the command, and die before that statement."""
    line.wait()
    with watched(lambda number: number == death and die()):
        app.cli.main(["migrate"])


def die() -> None:
    """End at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def migrate_at_once(app: Flask, deaths: list[int]) -> list[int]:
    """Let one process for each death begin at the same instant; their exit codes."""
    fork = get_context("fork")
    line = fork.Barrier(len(deaths))
    runners = [
        fork.Process(target=migrate, args=(app, line, death)) for death in deaths
    ]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    return [runner.exitcode for runner in runners]


if __name__ == "__main__":
    app, deaths = create_app(), [int(argument) for argument in sys.argv[1:]]
    waves = (deaths, [LIVES] * len(deaths))
    codes = [migrate_at_once(app, wave) for wave in waves]
    for wave in codes:
        print(*wave)
