"""A plugin of pytest that runs tests against mutants, each in a fork of the process.

What the tests need is imported and started once. In a fork, the functions of a module
get the code of the mutant; programs that a test starts find the mutant in the file. If
what runs at an import differs, the fork becomes a new process.
"""

import contextlib
import gc
import json
import os
import selectors
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

TREE = Path.cwd()
# A test may take so many times as long as usual, and so many seconds.
TIMES, SECONDS = 10, 30
MOST_IN_A_NEW_PROCESS = 100
# These look at what modules declare.
FIRST_IN_A_NEW_PROCESS = ["tests/test_promises.py", "tests/openapi/test_openapi.py"]
SLOW, VERY_SLOW = " (time)", 12
NEW = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider"]
Tests = list[tuple[str, float]]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the mutants of a file instead of the tests; write what became of each."""
    jobs, runner = Path(os.environ.pop("MUTATION_JOBS")), Runner(session)
    with jobs.with_suffix(".results").open("a", buffering=1) as results:
        for number, line in enumerate(jobs.read_text().splitlines(), start=1):
            job = json.loads(line)
            killer = runner.killer_of(job, number)
            result = {"path": job["path"], "name": job["name"], "killer": killer}
            print(json.dumps(result), file=results)
    return True


class Runner:
    """Runs tests of a session, whose servers run as long as the session."""

    def __init__(self, session: pytest.Session) -> None:
        self._items = {item.nodeid: item for item in session.items}
        self._other = session.items[0]
        self._is_trusted: dict[str, bool] = {}
        keeper = pytest.Function.from_parent(
            self._other.listchain()[2],  # the folder of all tests
            name="keeper",
            callobj=lambda postgresql_server, redis_server, migrated_sqlite: None,
        )
        reports = runtestprotocol(keeper, nextitem=self._other, log=False)
        assert all(report.passed for report in reports), reports
        self._functions: dict[str, list[FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if type(each) is FunctionType:
                self._functions[each.__code__.co_filename].append(each)

    def killer_of(self, job: dict[str, Any], number: int) -> str | None:
        """Return the first test that fails, or None."""
        path, source = TREE / job["path"], job["source"]
        tests = [
            (name, seconds)
            for name, seconds in job["tests"]
            if name in self._items and self._is_trusted.get(name, True)
        ]
        if not tests:
            return None
        swap = self._swap(path, path.read_text(), source)
        with _changed(path, source, number):
            killer = self._fork(tests, swap)
            if swap and killer and killer.endswith(SLOW):  # or the machine is
                again = [(killer.removesuffix(SLOW), VERY_SLOW)]
                killer = self._fork(again, swap)
            if swap and not killer:  # unless it runs at an import
                killer = self._fork(tests, None)
        if killer in self._items and killer not in self._is_trusted:
            unchanged = self._fork([(killer, 1)], lambda: None)
            self._is_trusted[killer] = unchanged is None
            if unchanged:
                return self.killer_of(job, number)
        return killer

    def _swap(self, path: Path, old: str, new: str) -> Callable[[], None] | None:
        """Return what gives the functions new code, if that is all that differs."""
        olds, news = (_codes(compile(text, path, "exec")) for text in (old, new))
        if [code.co_qualname for code in olds] != [code.co_qualname for code in news]:
            return None
        new_codes = dict(zip(olds, news, strict=True))
        for before, after in new_codes.items():
            if not before.co_flags & CO_OPTIMIZED and _body(before) != _body(after):
                return None  # it is of a module or a class

        def swap() -> None:
            for function in self._functions[str(path)]:
                function.__code__ = new_codes[function.__code__]

        return swap

    def _fork(self, tests: Tests, swap: Callable[[], None] | None) -> str | None:
        """Return the first test that fails or takes too long, or "start", or None."""
        reader, writer = os.pipe()
        if not (pid := os.fork()):
            os.setpgid(0, 0)
            with contextlib.suppress(BaseException):
                if not swap:
                    os.set_inheritable(writer, True)
                    names = [name for name, _ in tests][:MOST_IN_A_NEW_PROCESS]
                    base = f"--basetemp={os.environ['TMPDIR']}/new"
                    names = [*FIRST_IN_A_NEW_PROCESS, *names]
                    os.execv(sys.executable, [*NEW, base, *names])
                swap()
                self._run(tests, writer)
            os._exit(1)
        os.close(writer)
        seconds = dict(tests) if swap else {"start": sum(each for _, each in tests)}
        try:
            return _watched(pid, reader, seconds)
        finally:
            os.close(reader)

    def _run(self, tests: Tests, writer: int) -> None:
        following = [self._items[name] for name, _ in tests[1:]]
        for (name, _), next_item in zip(tests, [*following, self._other], strict=True):
            os.write(writer, f"{name}\n".encode())
            reports = runtestprotocol(self._items[name], nextitem=next_item, log=False)
            if any(report.failed for report in reports):
                os._exit(1)
        os._exit(0)


def _watched(pid: int, reader: int, seconds: dict[str, float]) -> str | None:
    name, suffix = "start", ""
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while selector.select(SECONDS + TIMES * seconds.get(name, 0)):
            if not (read := os.read(reader, 1 << 16)):
                break
            name = read.decode().splitlines()[-1]
        else:
            suffix = SLOW
            os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what the tests have started
    return f"{name}{suffix}" if status else None


@contextlib.contextmanager
def _changed(path: Path, source: str, number: int) -> Iterator[None]:
    times, original = path.stat(), path.read_text()
    path.write_text(source)
    os.utime(path, (number, number))  # or Python takes what it has compiled before
    try:
        yield
    finally:
        path.write_text(original)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _codes(code: CodeType) -> list[CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [code, *(each for part in inner for each in _codes(part))]


def _body(code: CodeType) -> tuple[object, ...]:
    consts = [each for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_code, code.co_names, repr(consts)
