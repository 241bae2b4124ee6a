"""The samples of the reference run as they stand: those in curl and JavaScript."""

from collections.abc import Iterator
from pathlib import Path

import playwright
import pytest

from tests.harness.code_samples import (
    Samples,
    fill,
    require_all_succeed,
    require_patience,
)
from tests.harness.services import Service, serving

NODE = str(Path(playwright.__file__).parent / "driver/node")
COMMANDS = {
    "curl": ("bash", "-c"),
    "JavaScript": (NODE, "--input-type=module", "--eval"),
}


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        yield service


@pytest.fixture(params=COMMANDS)
def samples(request: pytest.FixtureRequest, service: Service) -> Samples:
    return Samples(service, request.param, *COMMANDS[request.param])


def test_samples_succeed_and_read_all_pages(
    samples: Samples, service: Service, tmp_path: Path
):
    fill(service)
    require_all_succeed(samples, tmp_path)


def test_samples_wait_out_a_429(samples: Samples, tmp_path: Path):
    require_patience(samples, tmp_path)
