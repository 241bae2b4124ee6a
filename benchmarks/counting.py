"""What is counted, and how: callgrind counts in a worker, and strace its system calls.

Instructions are the same on any day and on any machine of one kind. Under callgrind, a
program starts about five times slower, and is counted fifty times slower.
"""

import contextlib
import re
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from benchmarks.counted import STATEMENT, TRACED
from benchmarks.requests import Request
from benchmarks.stage import Server, Stage
from benchmarks.steps import BETWEEN, MARKING, MARKS, costs_of

STEADY = {"PYTHONHASHSEED": "0"}  # the same at each start
CALLGRIND = (
    "valgrind",
    "--tool=callgrind",
    "--instr-atstart=no",
    "--trace-children=yes",  # otherwise a forked worker cannot be told to count
)
# A system call in the output of strace; the second half of one that was interrupted by
# another thread does not count.
CALL = re.compile(
    r"^\d+ +(\w+)\((\d+<((?:TCP|UNIX)[^>]*?:\[.*?\])>)?(.*)", re.MULTILINE
)
SENT = re.compile(r'^, "((?:\\x..)*)"')
# A message to PostgreSQL has its type before its length; these execute a statement.
EXECUTED = b"QE"
COMMAND = re.compile(rb"\*\d+\r\n\$\d+\r\n")  # of Redis: an array of strings

Figures = dict[str, float]  # by column
# Returns what the second requests cost, after the first ones as a warm-up.
Measure = Callable[[list[Request], list[Request]], Figures]


@contextlib.contextmanager
def instructions(place: Stage, command: tuple[str, ...]) -> Iterator[Measure]:
    """Count thousands of instructions."""
    files = place.directory / "callgrind"
    below = (*CALLGRIND, f"--callgrind-out-file={files}.%p")
    with place.running(command, below, STEADY) as server:

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            send(server.port, warm_up)
            tell(server, "instrumentation", "on")
            tell(server, "zero")
            send(server.port, counted)
            tell(server, "dump")
            tell(server, "instrumentation", "off")
            *_, newest = profiles(files, server)
            return {"instructions": total(newest) / len(counted) / 1000}

        yield measure


def steps(
    place: Stage,
    command: tuple[str, ...],
    cases: dict[str, tuple[list[Request], list[Request]]],
) -> dict[str, Counter[str]]:
    """Count instructions of each step, of warm-up and counted requests by case."""
    files, marks = place.directory / "callgrind", place.directory / "marks"
    below = (*CALLGRIND, f"--dump-before={MARKING}", f"--callgrind-out-file={files}.%p")
    found = {}
    with place.running(command, below, STEADY | {MARKS: str(marks)}) as server:
        for case, (warm_up, counted) in cases.items():
            send(server.port, warm_up)
            before = len(profiles(files, server))
            marks.write_text("")
            tell(server, "instrumentation", "on")
            tell(server, "zero")
            send(server.port, counted)
            tell(server, "dump")
            tell(server, "instrumentation", "off")
            names = [BETWEEN, *marks.read_text().splitlines()]
            found[case] = costs_of(names, map(total, profiles(files, server)[before:]))
    return found


def tell(server: Server, *words: str) -> None:
    """Tell callgrind to do something in the worker."""
    vgdb = ["vgdb", f"--pid={server.worker}", "--wait=60", *words]
    subprocess.run(vgdb, check=True, capture_output=True)


def profiles(files: Path, server: Server) -> list[Path]:
    """Return what callgrind has dumped of the worker, in order."""
    found = files.parent.glob(f"{files.name}.{server.worker}.*")
    return sorted(found, key=lambda file: int(file.suffix[1:]))


def total(profile: Path) -> int:
    """Return the instructions of a profile."""
    [found] = re.findall(r"^totals: (\d+)", profile.read_text("latin-1"), re.MULTILINE)
    return int(found)


@contextlib.contextmanager
def calls(place: Stage, command: tuple[str, ...]) -> Iterator[Measure]:
    """Count system calls, statements of SQL and Redis, and round trips to stores."""
    with place.running(command, (), STEADY | {TRACED: "1"}) as server:

        def measure(warm_up: list[Request], counted: list[Request]) -> Figures:
            file = place.directory / "calls"
            send(server.port, warm_up)
            with _traced(server.worker, file):
                send(server.port, counted)
            found = _count(server, file.read_text())
            return {name: number / len(counted) for name, number in found.items()}

        yield measure


@contextlib.contextmanager
def _traced(pid: int, file: Path) -> Iterator[None]:
    command = ["strace", "--follow-forks", f"--attach={pid}", f"--output={file}"]
    command += ["--decode-fds=all", "--strings-in-hex=all", "--string-limit=100000"]
    strace = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    attached = strace.stderr.readline()
    assert "attached" in attached, attached
    yield
    strace.send_signal(signal.SIGINT)
    strace.communicate()


def _count(server: Server, trace: str) -> Figures:
    found = {"calls": 0, "statements": 0, "trips": 0}
    mark = "".join(f"\\x{byte:02x}" for byte in STATEMENT)
    answered = {}  # whether each connection to a store waits for nothing
    for name, _, connection, rest in CALL.findall(trace):
        found["calls"] += 1
        if name == "write" and mark in rest:
            found["calls"] -= 1
            found["statements"] += 1
        if not connection or f":{server.port}-" in connection:
            continue
        if name.startswith("recv") and "= -1" not in rest:
            answered[connection] = True
        elif sent := SENT.match(rest):
            found["trips"] += answered.get(connection, True)
            answered[connection] = False
            found["statements"] += _executed(bytes.fromhex(sent[1].replace("\\x", "")))
    return found


def _executed(sent: bytes) -> int:
    """Return the number of statements in what is sent to a store."""
    if commands := COMMAND.findall(sent):
        return len(commands)
    executed = 0
    while len(sent) > 4:
        executed += sent[0] in EXECUTED
        sent = sent[1 + int.from_bytes(sent[1:5]) :]
    return executed


METERS = {"instructions": instructions, "calls": calls}


def send(port: int, requests: list[Request]) -> None:
    """Send requests over one connection, and check their statuses."""
    with (
        socket.create_connection(("127.0.0.1", port)) as client,
        client.makefile("rb") as answers,
    ):
        for request in requests:
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
