"""What is counted, and how: each meter starts a program and counts in its worker."""

import contextlib
import itertools
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import psutil

from benchmarks import callgrind, strace
from benchmarks.relay import Relay, relay
from benchmarks.requests import Request
from benchmarks.stage import BASELINE, Stage
from benchmarks.statements import PATH
from tests.harness import servers

STARTED_WITHIN_SECONDS = 120
STEADY = {"PYTHONHASHSEED": "0", "WEB_CONCURRENCY": "1"}  # the same at each start

SERVICE = ("--config", "benchmarks/steady.py")
# Valgrind does not know the instructions of the parser in C.
BY_GUNICORN = ("--config", os.devnull, "--no-control-socket", "--http-parser", "python")

Figures = dict[str, float]  # by column
# Returns what the second requests cost, after the first ones as a warm-up.
Measure = Callable[[list[Request], list[Request]], Figures]


class Program(NamedTuple):
    """An application on a server; profiles are kept in the directory."""

    place: Stage
    directory: Path
    app: str = "wsgi"  # the module
    server: tuple[str, ...] = SERVICE  # the options of gunicorn

    @classmethod
    def by_hand(cls, place: Stage, directory: Path, *server: str) -> "Program":
        """Return the baseline on a server."""
        return cls(place, directory, BASELINE, server)

    def command(self) -> list[str]:
        """Return the arguments with which Python runs it."""
        return ["-m", "gunicorn", *self.server, f"{self.app}:app"]


@contextlib.contextmanager
def _instructions(program: Program) -> Iterator[Measure]:
    """Count in thousands."""
    command = callgrind.command(program.directory, *program.command())
    with _started(program, command) as (port, pid):
        counter = callgrind.Counter(pid, program.directory)

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            _send(port, warm_up)
            counter.start()
            _send(port, counted)
            return {"instructions": counter.stop() / len(counted) / 1000}

        yield measure


@contextlib.contextmanager
def _calls(program: Program) -> Iterator[Measure]:
    with _started(program, [sys.executable, *program.command()]) as (port, pid):

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            counter = strace.Counter(pid, program.directory)
            _send(port, warm_up)
            counter.start()
            _send(port, counted)
            return {"calls": counter.stop() / len(counted)}

        yield measure


@contextlib.contextmanager
def _statements(program: Program) -> Iterator[Measure]:
    environ = program.place.environ | {"COUNTED": program.app}
    with contextlib.ExitStack() as stack:
        relays: dict[str, Relay] = {
            name: stack.enter_context(relay(url))
            for name, url in environ.items()
            if name.endswith("_URL") and not url.startswith("sqlite")
        }
        environ |= {name: each.url for name, each in relays.items()}
        place = program.place._replace(environ=environ)
        program = program._replace(place=place, app="benchmarks.statements")
        command = [sys.executable, *program.command()]
        port, _ = stack.enter_context(_started(program, command))

        def count() -> tuple[int, int]:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{PATH}") as answer:
                of_sqlite = int(answer.read())
            sent = sum(each.statements for each in relays.values())
            return of_sqlite + sent, sum(each.round_trips for each in relays.values())

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            _send(port, warm_up)
            before = count()
            _send(port, counted)
            statements, trips = (
                (after - earlier) / len(counted)
                for after, earlier in zip(count(), before, strict=True)
            )
            return {"statements": statements, "trips": trips}

        yield measure


METERS = {
    "instructions": _instructions,
    "calls": _calls,
    "statements": _statements,
}


class Worker(NamedTuple):
    """A worker of gunicorn."""

    port: int
    pid: int


@contextlib.contextmanager
def _started(program: Program, command: list[str]) -> Iterator[Worker]:
    port = servers.free_port()
    with (
        tempfile.TemporaryDirectory() as metrics,
        (program.directory / "log").open("a") as log,
    ):
        steady = STEADY | {"PROMETHEUS_MULTIPROC_DIR": metrics}
        process = subprocess.Popen(
            [*command, "--bind", f"127.0.0.1:{port}"],
            cwd=servers.ROOT,
            env=os.environ | program.place.environ | steady,
            stdout=log,
            stderr=log,
        )
        try:
            yield Worker(port, _worker_of(process, port))
        finally:
            servers.stop(process)


def _worker_of(process: subprocess.Popen, port: int) -> int:
    deadline = time.monotonic() + STARTED_WITHIN_SECONDS
    while not (workers := psutil.Process(process.pid).children()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    servers.wait_for_answer(f"http://127.0.0.1:{port}")
    return workers[0].pid


def _send(port: int, requests: list[Request]) -> None:
    """Send requests one after the other, and check their statuses.

    There is one connection at a time, and another one for each address.
    """
    for address, group in itertools.groupby(requests, lambda request: request.address):
        with (
            socket.create_connection(
                ("127.0.0.1", port), source_address=(address, 0)
            ) as client,
            client.makefile("rb") as answers,
        ):
            for request in group:
                client.sendall(_bytes(request))
                status = int(answers.readline().split()[1])
                body = answers.read(int(dict(_headers(answers))["content-length"]))
                assert status == request.expected, body


def _bytes(request: Request) -> bytes:
    lines = [f"{request.method} {request.path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    lines += [f"Content-Length: {len(request.body)}"] if request.body else []
    return "\r\n".join([*lines, "", request.body]).encode()


def _headers(answers: BinaryIO) -> Iterator[tuple[str, str]]:
    while line := answers.readline().decode().strip():
        name, _, value = line.partition(":")
        yield name.lower(), value
