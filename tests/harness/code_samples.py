"""The samples of the reference, run as they stand against a running service."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from tests.harness.clients import ORDERS, PETS, Client
from tests.harness.services import Service

# One more than the samples ask for in a page.
ANIMALS = 101
# Of the id that the samples name there are an available animal and an open order.
EXAMPLE_ID = 42
RETRY_AFTER_SECONDS = 1


class Samples:
    """The samples in one language, by operation."""

    def __init__(self, service: Service, label: str, *command: str) -> None:
        self.url = f"{service.url}/v1"
        self.key = service.key
        self.command = command
        paths = service.send("/openapi.json").json["paths"]
        self.sources = {
            operation["operationId"]: sample["source"]
            for methods in paths.values()
            for operation in methods.values()
            for sample in operation["x-codeSamples"]
            if sample["label"] == label
        }

    def run(self, operation: str, directory: Path, url: str = "") -> str:
        """Return what the sample of an operation prints; it must succeed."""
        return self.run_source(self.sources[operation], directory, url)

    def run_source(self, source: str, directory: Path, url: str = "") -> str:
        """Return what a sample prints; it must succeed."""
        done = subprocess.run(
            [*self.command, source],
            env={
                "API": url or self.url,
                "KEY": self.key,
                "PATH": "/usr/local/bin:/usr/bin:/bin",
            },
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{source}: {done.stdout}{done.stderr}"
        return done.stdout


def python_samples(service: Service) -> Samples:
    """The samples in Python, for the environment of the tests."""
    return Samples(service, "Python", sys.executable, "-c")


def fill(service: Service) -> None:
    """Add what the samples list and name."""
    with service.client() as client:
        for number in range(1, ANIMALS + 1):
            pet = {"name": f"Pet {number}.", "categoryId": 1}
            assert client.send("POST", PETS, pet).status == 201
        for pet_id in range(ANIMALS - EXAMPLE_ID, ANIMALS):
            assert client.send("POST", ORDERS, {"petId": pet_id}).status == 201


def require_all_succeed(samples: Samples, directory: Path) -> None:
    """Run every sample: those that list read all pages, and the others succeed."""
    # Withdrawing the animal comes last: the other samples name it too, and order it.
    operations = [name for name in samples.sources if name != "deletePet"]
    printed = {name: samples.run(name, directory) for name in operations}
    cancel_order_of(EXAMPLE_ID, samples)
    samples.run("deletePet", directory)
    names = {f"Pet {number}." for number in range(1, ANIMALS + 1)}
    assert all(name in printed["listPets"] for name in names)
    assert "Rex" in printed["createPet"]
    assert "Dogs" in printed["putCategory"]


def cancel_order_of(pet_id: int, samples: Samples) -> None:
    """Cancel the open order of an animal."""
    with Client(samples.url.removesuffix("/v1"), samples.key) as client:
        [order] = [each for each in client.all_of(ORDERS) if each["petId"] == pet_id]
        path = f"{ORDERS}/{order['id']}"
        assert client.send("PATCH", path, {"status": "cancelled"}).is_served


def require_patience(samples: Samples, directory: Path) -> None:
    """Check that samples wait out a 429, and repeat the same Idempotency-Key."""
    operations = ("listPets", "createPet", "putCategory")
    with (
        ThreadPoolExecutor() as threads,
        refusing_first(samples.url) as (url, seen),
    ):
        list(threads.map(lambda name: samples.run(name, directory, url), operations))
    for method, path in (
        ("GET", "/pets?limit=100"),
        ("POST", "/pets?"),
        ("PUT", f"/categories/{EXAMPLE_ID}?"),
    ):
        (first, first_key), (second, second_key) = seen[method, path]
        assert second - first >= RETRY_AFTER_SECONDS
        assert first_key == second_key
        assert bool(first_key) == (method == "POST")


@contextmanager
def refusing_first(api: str) -> Iterator[tuple[str, dict]]:
    """Serve lists without items, but answer the first request for each with 429.

    Yields the address and, by method and path, when each request came and with which
    Idempotency-Key.
    """
    seen: dict = {}

    @Request.application
    def answer(request: Request) -> Response:
        attempts = seen.setdefault((request.method, request.full_path), [])
        attempts.append((time.monotonic(), request.headers.get("Idempotency-Key")))
        status = 429 if len(attempts) == 1 else 200
        return Response("[]", status, {"Retry-After": str(RETRY_AFTER_SECONDS)})

    server = make_server("127.0.0.1", 0, answer, threaded=True)
    Thread(target=server.serve_forever).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
