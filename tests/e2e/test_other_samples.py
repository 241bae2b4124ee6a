"""The samples of the reference run as they stand: those in curl and JavaScript."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import playwright
import pytest

from tests.harness.code_samples import (
    EXAMPLE_ID,
    Samples,
    fill,
    require_all_succeed,
    require_patience,
)
from tests.harness.servers import ROOT
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


def test_shell_samples_of_the_guide_read_animals(service: Service, tmp_path: Path):
    fill(service)
    samples = Samples(service, "curl", *COMMANDS["curl"])
    guide = (ROOT / "petstore/openapi/guide.md").read_text()
    guide = guide.replace("BASE_ADDRESS", samples.url)
    guide = guide.replace("YOUR_API_KEY", samples.key)
    first_call, one_animal = re.findall("```sh\n(.*?)```", guide, re.DOTALL)
    assert len(json.loads(samples.run_source(first_call, tmp_path))) == 20
    [animal] = json.loads(samples.run_source(one_animal, tmp_path))
    assert animal["id"] == EXAMPLE_ID


def test_samples_wait_out_a_429(samples: Samples, tmp_path: Path):
    require_patience(samples, tmp_path)
