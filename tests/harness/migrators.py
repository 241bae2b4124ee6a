"""Run concurrent `flask migrate` processes that die, then as many that do not.

Each argument of the program is the number of the statement before which a
process dies, counted from 1, or 0 if it lives. The last two lines of the output are the
exit codes of both groups.
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any

from flask import Flask

from petstore import create_app
from petstore.storage.engine import Engine
from tests.harness import servers

LIVES = 0
KILLED = str(-signal.SIGKILL)


@contextmanager
def watched(watch: Callable[[int], object]) -> Iterator[None]:
    """Call `watch` before each statement with its number, counted from 1."""
    execute, numbers = Engine.execute_sql, count(1)

    def watched_execute(*arguments: Any, **options: Any) -> Any:
        watch(next(numbers))
        return execute(*arguments, **options)

    Engine.execute_sql = watched_execute
    try:
        yield
    finally:
        Engine.execute_sql = execute


def migrate(app: Flask, line: Barrier, death: int) -> None:
    """Wait for the other processes, then run the command and die at that statement."""
    line.wait()
    with watched(lambda number: number == death and die()):
        app.cli.main(["migrate"])


def die() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def migrate_at_once(app: Flask, deaths: list[int]) -> list[int]:
    """Run a process for each death at the same time; return the exit codes."""
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


def migrate_twice(url: str, deaths: list[int]) -> list[str]:
    """Run `flask migrate` with the deaths, then without; return the faults."""
    module, environ = "tests.harness.migrators", {"DATABASE_URL": url}
    ended = servers.run(environ, module, *map(str, deaths))
    ended.check_returncode()
    *told, codes, codes_again = ended.stdout.splitlines()
    faults = [
        f"one ended with {code}, in {deaths}"
        for death, code in zip(deaths, codes.split(), strict=True)
        if code != "0" and not (death and code == KILLED)
    ]
    if faults:
        faults += ended.stderr.splitlines()[-1:]
    if set(codes_again.split()) != {"0"}:
        faults.append(f"run again: {codes_again}, after {deaths}")
    steps = Counter(line for line in told if line.startswith("applied "))
    return faults + [f"{step} twice" for step, times in steps.items() if times > 1]


if __name__ == "__main__":
    app, deaths = create_app(), [int(argument) for argument in sys.argv[1:]]
    waves = (deaths, [LIVES] * len(deaths))
    codes = [migrate_at_once(app, wave) for wave in waves]
    for wave in codes:
        print(*wave)
