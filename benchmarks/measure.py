"""Requests per second of the service beside yardsticks, interleaved in one run.

    make bench
    python -m benchmarks.measure --rounds 3 --seconds 1 --store sqlite

It needs wrk, and aims at servers that it starts on loopback. Every answer is checked
before it is measured: status, number of animals, headers, counters that move, animals
that are in the database. A figure is the median of the rounds; what counts is its
ratio to the baseline (yardsticks/baseline.py: the same job by hand in one file).
"""

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests import servers

YARDSTICKS = Path(__file__).parent / "yardsticks"
ANIMALS = 150
CASES = {
    "list 20": "/v1/pets",
    "list 100": "/v1/pets?limit=100",
    "by status": "/v1/pets?status=pending",
    "get": "/v1/pets/1",
    "create": "/v1/pets",
}
FEATURES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
CREATE = """wrk.method = "POST"
wrk.body = '{"name": "Rex", "categoryId": 7}'
wrk.headers["Content-Type"] = "application/json"
"""
UNLIMITED = ("--plan", "enterprise", "--per-minute", "1000000000", "--per-day")


def main() -> None:
    """Measure on one store or on both, and print a line a case."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=int, default=2)
    arguments.add_argument("--workers", type=int, default=1)
    arguments.add_argument("--store", choices=("sqlite", "postgresql"))
    chosen = arguments.parse_args()
    for store in [chosen.store] if chosen.store else ["sqlite", "postgresql"]:
        with (
            tempfile.TemporaryDirectory() as directory,
            contextlib.ExitStack() as stack,
        ):
            environ = _environ(store, Path(directory), stack)
            key = _prepared(environ)
            urls = {
                "service": stack.enter_context(_service(Path(directory), environ)),
                "baseline": stack.enter_context(_yardstick("baseline", environ)),
                "flask": stack.enter_context(_yardstick("constant", environ)),
                "wsgi": stack.enter_context(_yardstick("bare", environ)),
            }
            _fill(urls["service"], key)
            for name in ("service", "baseline"):
                _check(urls[name], key)
            _measure(store, urls, key, chosen)


def _environ(store: str, directory: Path, stack: contextlib.ExitStack) -> dict:
    environ = {"PETSTORE_BAN_AFTER": "1000000", "WEB_CONCURRENCY": "1"}
    if store == "sqlite":
        return environ | {"DATABASE_URL": f"sqlite:///{directory}/petstore.db"}
    return environ | {
        "DATABASE_URL": stack.enter_context(servers.postgresql()),
        "REDIS_URL": stack.enter_context(servers.redis(directory)),
    }


def _prepared(environ: dict[str, str]) -> str:
    servers.flask(environ, "migrate")
    servers.flask(environ, "projects", "create", "bench", *UNLIMITED, "1000000000")
    return servers.flask(environ, "keys", "create").stdout.strip()


@contextlib.contextmanager
def _service(directory: Path, environ: dict[str, str]) -> Iterator[str]:
    with servers.gunicorn(directory, environ) as service:
        yield service.url


@contextlib.contextmanager
def _yardstick(name: str, environ: dict[str, str]) -> Iterator[str]:
    port = servers.free_port()
    command = [sys.executable, "-m", "gunicorn", "--config", os.devnull]
    command += ["--bind", f"127.0.0.1:{port}", "--no-control-socket", f"{name}:app"]
    process = subprocess.Popen(
        command, cwd=YARDSTICKS, env=os.environ | environ, stderr=subprocess.DEVNULL
    )
    try:
        servers.wait_for_port(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        servers.stop(process)


def _fill(url: str, key: str) -> None:
    for number in range(ANIMALS):
        status = ("available", "pending", "sold")[number % 3]
        body = {"name": f"Rex {number}", "categoryId": number % 5, "status": status}
        _ask(f"{url}/v1/pets", key, json.dumps(body).encode())


def _check(url: str, key: str) -> None:
    pets, before = _ask(f"{url}/v1/pets?limit=100", key)
    assert len(pets) == 100, "a list of 100 holds 100 animals"
    assert all(name in before for name in FEATURES), "the quota is shown"
    made, after = _ask(f"{url}/v1/pets", key, b'{"name": "Rex", "categoryId": 7}')
    moved = int(before["X-RateLimit-Remaining"]) - int(after["X-RateLimit-Remaining"])
    assert moved == 1, "the counter moves"
    found, _ = _ask(f"{url}/v1/pets/{made['id']}", key)
    assert found == made, "what was created is there"


def _ask(url: str, key: str, body: bytes | None = None) -> tuple:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer), answer.headers


def _measure(store: str, urls: dict, key: str, chosen: argparse.Namespace) -> None:
    for case, path in CASES.items():
        rates: dict[str, list[float]] = {name: [] for name in urls}
        for _ in range(chosen.rounds):
            for name, url in urls.items():
                if name in ("flask", "wsgi"):  # which answer one thing only
                    rates[name].append(_rate(f"{url}/v1/pets", key, "", chosen.seconds))
                else:
                    rates[name].append(_rate(url + path, key, case, chosen.seconds))
        medians = {name: statistics.median(rates[name]) for name in urls}
        ratio = medians["service"] / medians["baseline"]
        shown = "  ".join(f"{name} {rate:7,.0f}" for name, rate in medians.items())
        print(f"{store:10}  {case:9}  {ratio:5.2f} x baseline   {shown}", flush=True)


def _rate(url: str, key: str, case: str, seconds: int) -> float:
    command = ["wrk", "-t1", "-c16", f"-d{seconds}s", url]
    command += ["-H", f"Authorization: Bearer {key}"]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        if case == "create":
            script.write(CREATE)
            script.flush()
            command += ["-s", script.name]
        shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Non-2xx" not in shown.stdout, shown.stdout
    return float(re.search(r"Requests/sec:\s+([0-9.]+)", shown.stdout)[1])


if __name__ == "__main__":
    main()
