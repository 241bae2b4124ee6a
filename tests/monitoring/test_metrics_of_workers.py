"""/metrics sums over all workers, including those that were recycled."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

import pytest

from tests.harness.samples import Samples
from tests.harness.services import Service, serving

WORKERS = 2
SERVED_BY_ONE = 40  # requests after which a worker is recycled
REQUESTS = 200
CLIENTS = 4
ASKED = {
    "/v1/pets": ("list_pets", "200"),
    "/v1/pets/1": ("get_pet", "404"),
    "/v1/nowhere": ("unknown", "404"),
    "/v1/pets?limit=0": ("list_pets", "400"),
    "/openapi.json": ("openapi", "200"),
}


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": str(WORKERS)}
    recycled = ["--max-requests", str(SERVED_BY_ONE), "--max-requests-jitter", "10"]
    with serving(tmp_path, environ, *recycled) as service:
        yield service


def test_every_request_is_counted_exactly_once(service: Service):
    first_workers = {worker.pid for worker in service.workers}
    paths = list(islice(cycle(ASKED), REQUESTS))
    with ThreadPoolExecutor(CLIENTS) as pool:
        pending = pool.map(lambda path: service.send(path).status, paths)
        scraped = [service.send("/metrics").status for _ in range(5)]
        statuses = list(pending)
    samples = Samples(service.send("/metrics").content.decode())
    by_operation = samples.by("petstore_requests_total", "operation", "status")
    each = REQUESTS // len(ASKED)
    assert by_operation == dict.fromkeys(ASKED.values(), each)
    assert statuses == [int(ASKED[path][1]) for path in paths]
    assert scraped == 5 * [200]
    durations = samples.total("petstore_request_duration_seconds_count")
    assert durations == REQUESTS
    assert samples.total("petstore_deprecated_requests_total") == each
    assert first_workers != {worker.pid for worker in service.workers}
