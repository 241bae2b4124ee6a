"""What is counted, and how: each meter starts a program and counts in it."""

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import psutil

from benchmarks import callgrind, strace
from benchmarks.relay import Relay, relay
from benchmarks.requests import Request
from benchmarks.stage import BASELINE, Stage
from tests.harness import servers

AT_ONCE = 8
STARTED_WITHIN_SECONDS = 120
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
STEADY = {"PYTHONHASHSEED": "0", "WEB_CONCURRENCY": "1"}  # the same at each start

SERVICE, BY_HAND = "wsgi", "benchmarks.yardsticks.baseline"

Figures = dict[str, float]  # by column
# Returns what the second requests cost, after the first ones as a warm-up.
Measure = Callable[[list[Request], list[Request]], Figures]


class Program(NamedTuple):
    """An application on the stores; its profiles are kept in the directory."""

    place: Stage
    app: str  # the module
    directory: Path
    without: str = ""  # a mechanism that plain.py replaces

    def command(self, module: str) -> list[str]:
        """Return the arguments that make Python run a module."""
        if self.without:
            return ["-m", "benchmarks.plain", self.without, module]
        return ["-m", module]


@contextlib.contextmanager
def _worker(program: Program) -> Iterator[Measure]:
    with _counted_worker(program) as (port, counter):

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            _send(port, warm_up)
            counter.start()
            statuses = _send(port, counted)
            instructions = counter.stop()
            _check(counted, statuses)
            return {"worker": instructions / len(counted) / 1000}

        yield measure


@contextlib.contextmanager
def _calls(program: Program) -> Iterator[Measure]:
    command = [sys.executable, *_with_server(program)]
    with _started_worker(program, command) as worker:

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            counter = strace.Counter(worker.pid, program.directory)
            _send(worker.port, warm_up)
            counter.start()
            statuses = _send(worker.port, counted)
            calls = counter.stop()
            _check(counted, statuses)
            return {"calls": calls / len(counted)}

        yield measure


@contextlib.contextmanager
def _crowded(program: Program) -> Iterator[Measure]:
    with (
        _counted_worker(program) as (port, counter),
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            shares = [counted[number::AT_ONCE] for number in range(AT_ONCE)]
            _send(port, warm_up)
            counter.start()
            statuses = list(pool.map(_send, [port] * AT_ONCE, shares))
            instructions = counter.stop()
            for share, answers in zip(shares, statuses, strict=True):
                _check(share, answers)
            return {"crowded": instructions / len(counted) / 1000}

        yield measure


@contextlib.contextmanager
def _alone(program: Program) -> Iterator[Measure]:
    command = callgrind.command(program.directory, *_without_server(program))
    with _started(command, program.place.environ, **PIPES) as process:
        counter = callgrind.Counter(process.pid, program.directory)

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            _call(process, warm_up)
            statuses = _call(process, counted, counter.start)
            instructions = counter.stop()
            _check(counted, statuses)
            return {"alone": instructions / len(counted) / 1000}

        yield measure


@contextlib.contextmanager
def _pieces(program: Program) -> Iterator[Measure]:
    environ = program.place.environ
    with contextlib.ExitStack() as stack:
        relays: dict[str, Relay] = {
            name: stack.enter_context(relay(url))
            for name, url in environ.items()
            if name.endswith("_URL") and not url.startswith("sqlite")
        }
        environ = environ | {name: each.url for name, each in relays.items()}
        command = [sys.executable, *_without_server(program), "pieces"]
        process = stack.enter_context(_started(command, environ, **PIPES))

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            _call(process, warm_up)
            for each in relays.values():
                each.statements = each.round_trips = 0
            found = _call(process, counted)
            statuses, statements, peaks = map(list, zip(*found, strict=True))
            _check(counted, statuses)
            sent = sum(each.statements for each in relays.values())
            trips = sum(each.round_trips for each in relays.values())
            return {
                "statements": (sum(statements) + sent) / len(counted),
                "trips": trips / len(counted),
                "KiB": sum(peaks) / len(counted) / 1024,
            }

        yield measure


METERS = {
    "worker": _worker,
    "calls": _calls,
    "crowded": _crowded,
    "alone": _alone,
    "pieces": _pieces,
}


@contextlib.contextmanager
def _counted_worker(program: Program) -> Iterator[tuple[int, callgrind.Counter]]:
    command = callgrind.command(program.directory, *_with_server(program))
    with _started_worker(program, command) as (port, pid):
        yield port, callgrind.Counter(pid, program.directory)


class Worker(NamedTuple):
    """A worker of gunicorn."""

    port: int
    pid: int


def _with_server(program: Program) -> list[str]:
    arguments = program.command("gunicorn")
    if program.app == SERVICE:
        arguments += ["--config", "benchmarks/steady.py"]
    else:
        arguments += ["--config", os.devnull, "--http-parser", "python"]
        arguments += ["--no-control-socket", *BASELINE[program.place.store]]
    return [*arguments, f"{program.app}:app"]


@contextlib.contextmanager
def _started_worker(program: Program, command: list[str]) -> Iterator[Worker]:
    port = servers.free_port()
    command = [*command, "--bind", f"127.0.0.1:{port}"]
    with _started(command, program.place.environ) as process:
        deadline = time.monotonic() + STARTED_WITHIN_SECONDS
        while not (workers := psutil.Process(process.pid).children()):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        servers.wait_for_answer(f"http://127.0.0.1:{port}")
        yield Worker(port, workers[0].pid)


def _without_server(program: Program) -> list[str]:
    return [*program.command("benchmarks.alone"), program.app]


@contextlib.contextmanager
def _started(
    command: list[str], environ: dict[str, str], **options: Any
) -> Iterator[subprocess.Popen]:
    with tempfile.TemporaryDirectory() as metrics:
        directory = {"PROMETHEUS_MULTIPROC_DIR": metrics}
        process = subprocess.Popen(
            command,
            cwd=servers.ROOT,
            env=os.environ | environ | STEADY | directory,
            text=True,
            **(QUIET | options),
        )
        try:
            yield process
        finally:
            servers.stop(process)
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    pipe.close()


def _send(port: int, requests: list[Request]) -> list[int]:
    """Send requests one after the other, and return their statuses.

    There is one connection at a time, and another one for each address.
    """
    statuses = []
    for address, group in itertools.groupby(requests, lambda request: request.address):
        with (
            socket.create_connection(
                ("127.0.0.1", port), source_address=(address, 0)
            ) as client,
            client.makefile("rb") as answers,
        ):
            for request in group:
                client.sendall(_bytes(request))
                statuses.append(int(answers.readline().split()[1]))
                answers.read(int(dict(_headers(answers))["content-length"]))
    return statuses


def _bytes(request: Request) -> bytes:
    lines = [f"{request.method} {request.path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    lines += [f"Content-Length: {len(request.body)}"] if request.body else []
    return "\r\n".join([*lines, "", request.body]).encode()


def _headers(answers: BinaryIO) -> Iterator[tuple[str, str]]:
    while line := answers.readline().decode().strip():
        name, _, value = line.partition(":")
        yield name.lower(), value


def _call(
    process: subprocess.Popen,
    requests: list[Request],
    before: Callable[[], None] = lambda: None,
) -> list[Any]:
    """Have an application without a server answer; see alone.py."""
    print(json.dumps(requests), file=process.stdin, flush=True)
    assert process.stdout.readline() == "ready\n"
    before()
    print(file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())


def _check(requests: list[Request], statuses: list[int]) -> None:
    assert statuses == [request.expected for request in requests], statuses
