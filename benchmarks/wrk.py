"""Load by wrk, and what it cost."""

import re
import subprocess
import tempfile
from typing import NamedTuple

import psutil

from benchmarks.stage import Server

CONNECTIONS = 16
POST = """wrk.method = "POST"
wrk.body = '{"name": "Rex", "categoryId": 7}'
wrk.headers["Content-Type"] = "application/json"
"""
UNIT_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


class Case(NamedTuple):
    """What is asked, with whose key, and whether it is to be refused."""

    path: str = "/v1/pets"
    key: str = "ample"
    posts: bool = False
    is_refused: bool = False


class Figures(NamedTuple):
    """What one run has shown."""

    rate: float  # requests per second
    p50_ms: float
    p99_ms: float
    cpu_us: float  # of all processes of the server, for each request
    requests: int
    refused: int  # answered with 4xx or 5xx


def run(server: Server, case: Case, key: str, seconds: int) -> Figures:
    """Ask as fast as the connections can for so long."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency"]
    command += [server.url + case.path, "-H", f"Authorization: Bearer {key}"]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(POST if case.posts else "")
        script.flush()
        command += ["-s", script.name]
        before = _cpu_seconds(server.process)
        shown = subprocess.run(command, capture_output=True, text=True, check=True)
        spent = _cpu_seconds(server.process) - before
    return _read(shown.stdout, spent)


def _read(shown: str, cpu_seconds: float) -> Figures:
    requests = int(re.search(r"(\d+) requests in", shown)[1])
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", shown)
    return Figures(
        rate=float(re.search(r"Requests/sec:\s+([0-9.]+)", shown)[1]),
        p50_ms=_latency_ms("50%", shown),
        p99_ms=_latency_ms("99%", shown),
        cpu_us=cpu_seconds / requests * 1e6,
        requests=requests,
        refused=int(refused[1]) if refused else 0,
    )


def _latency_ms(quantile: str, shown: str) -> float:
    found = re.search(rf"{quantile}\s+([0-9.]+)(us|ms|s)\b", shown)
    return float(found[1]) * UNIT_MS[found[2]]


def _cpu_seconds(server: psutil.Process) -> float:
    times = [p.cpu_times() for p in (server, *server.children(recursive=True))]
    return sum(each.user + each.system for each in times)
