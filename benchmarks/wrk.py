"""Runs of wrk: throughput, latency and CPU time."""

import itertools
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.stage import Server

SCRIPT = Path(__file__).with_name("requests.lua")
UNIT_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}

_seeds = itertools.count(1)


class Case(NamedTuple):
    """What is requested (see requests.lua), and by whom."""

    what: str = "list"
    who: str = "tenants"
    connections: int = 16


class Figures(NamedTuple):
    """The results of one run."""

    rate: float  # requests per second
    p50_ms: float
    p99_ms: float
    cpu_us: dict[str, float]  # per request, of the server and of its stores

    @property
    def tail(self) -> float:
        """The 99th percentile as a multiple of the median."""
        return self.p99_ms / self.p50_ms


def run(
    server: Server,
    case: Case,
    seconds: int,
    rate: float | None = None,
) -> Figures:
    """Send requests at full speed or at the given rate, and check the results.

    No request may fail, and everything that was acknowledged must be in the database.
    """
    command = ["wrk", "-t1", f"-c{case.connections}", f"-d{seconds}s", "--latency"]
    command += ["--timeout", "20s", "-s", str(SCRIPT)]
    command += [f"{server.url}/v1/pets", "--", case.what]
    command += [str(server.place.directory / case.who), str(next(_seeds))]
    command += [str(rate)] if rate else []
    writes = case.what in ("create", "write")
    rows = server.place.rows() if writes else 0
    before = _cpu_seconds(server)
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = _cpu_seconds(server)
    requests = int(_found(r"(\d+) requests in", shown))
    assert "Non-2xx" not in shown, f"{server.name}: {case}\n{shown}"
    assert "Socket errors" not in shown, f"{server.name}: {case}\n{shown}"
    assert not writes or server.place.rows() - rows >= requests, "all are kept"
    return Figures(
        rate=float(_found(r"Requests/sec:\s+([0-9.]+)", shown)),
        p50_ms=_latency_ms("50%", shown),
        p99_ms=_latency_ms("99%", shown),
        cpu_us={
            name: sum(
                spent - before[name].get(pid, 0) for pid, spent in after[name].items()
            )
            / requests
            * 1e6
            for name in after
        },
    )


def _found(pattern: str, shown: str) -> str | None:
    found = re.search(pattern, shown)
    return found and found[1]


def _latency_ms(quantile: str, shown: str) -> float:
    number, unit = re.search(rf"{quantile}\s+([0-9.]+)(us|ms|s)\b", shown).groups()
    return float(number) * UNIT_MS[unit]


def _cpu_seconds(server: Server) -> dict[str, dict[int, float]]:
    """Return the CPU seconds of each process so far, by program and process id."""
    programs = {"server": server.process} | server.place.stores
    seconds: dict[str, dict[int, float]] = {name: {} for name in programs}
    for name, program in programs.items():
        for process in (program, *program.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # PostgreSQL's processes come and go
                seconds[name][process.pid] = sum(process.cpu_times()[:2])
    return seconds
