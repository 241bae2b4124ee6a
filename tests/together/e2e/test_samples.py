"""The samples of the reference run as they stand, in each language."""

import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import playwright
import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from tests.harness.clients import ORDERS
from tests.harness.listening import listening
from tests.harness.servers import ROOT
from tests.harness.services import Service, serving
from tests.harness.shell import printed_by

NODE = str(Path(playwright.__file__).parent / "driver/node")
COMMANDS = {
    "Python": (sys.executable, "-c"),
    "curl": ("bash", "-c"),
    "JavaScript": (NODE, "--input-type=module", "--eval"),
}
ANIMALS = 101  # one more than the samples ask for in a page
# Of the id that the samples name there are an available animal and an open order.
EXAMPLE_ID = 1
RETRY_AFTER_SECONDS = 1


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        yield service


@pytest.fixture
def filled(service: Service) -> None:
    """What the samples list and name."""
    with service.client() as client:
        for number in range(1, ANIMALS + 1):
            client.post({"name": f"Pet {number}.", "categoryId": 2})
        for pet_id in range(ANIMALS - EXAMPLE_ID, ANIMALS):
            assert client.post({"petId": pet_id}, ORDERS).status == 201


@pytest.fixture(params=COMMANDS)
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def samples(service: Service, language: str) -> dict[str, str]:
    """The samples in a language, by operation."""
    return {
        operation["operationId"]: sample["source"]
        for methods in service.send("/openapi.json").json["paths"].values()
        for operation in methods.values()
        for sample in operation["x-codeSamples"]
        if sample["label"] == language
    }


def run(language: str, source: str, service: Service, api: str = "") -> str:
    """Return what a sample prints; it must succeed."""
    environ = {"API": api or f"{service.url}/v1", "KEY": service.key}
    environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    place = service.gunicorn.log.parent  # where samples may write files
    return printed_by([*COMMANDS[language], source], env=environ, cwd=place)


@pytest.mark.usefixtures("filled")
def test_all_pages_are_read(service: Service, language: str, samples: dict[str, str]):
    # What deletes comes last: the other samples name the animal and its category too.
    deleting = [samples.pop(name) for name in ("deletePet", "deleteCategory")]
    printed = {name: run(language, samples[name], service) for name in samples}
    with service.client() as client:
        for order in client.all_of(ORDERS):
            if order["petId"] == EXAMPLE_ID:
                path = f"{ORDERS}/{order['id']}"
                client.send("PATCH", path, {"status": "cancelled"})
        [rex] = client.all_of("/v1/pets", after=ANIMALS)
        client.send("DELETE", f"/v1/pets/{rex['id']}")
    for source in deleting:
        run(language, source, service)
    names = {f"Pet {number}." for number in range(1, ANIMALS + 1)}
    assert all(name in printed["listPets"] for name in names)
    assert "Rex" in printed["createPet"]
    assert "Dogs" in printed["putCategory"]


@pytest.mark.usefixtures("filled")
def test_shell_samples_of_the_guide_read_animals(service: Service):
    guide = (ROOT / "petstore/extensions/openapi/guide.md").read_text()
    guide = guide.replace("BASE_ADDRESS", f"{service.url}/v1")
    guide = guide.replace("YOUR_API_KEY", service.key)
    first_call, one_animal = re.findall("```sh\n(.*?)```", guide, re.DOTALL)
    assert len(json.loads(run("curl", first_call, service))) == 20
    [animal] = json.loads(run("curl", one_animal, service))
    assert animal["id"] == 42


def test_a_429_is_waited_out(service: Service, language: str, samples: dict[str, str]):
    seen: dict[str, list] = defaultdict(list)

    @Request.application
    def refuse_first(request: Request) -> Response:
        seen[request.method].append((time.monotonic(), request.headers))
        status = 429 if len(seen[request.method]) == 1 else 200
        body = "[]" if status == 200 else "busy"
        return Response(body, status, {"Retry-After": str(RETRY_AFTER_SECONDS)})

    server = make_server("127.0.0.1", 0, refuse_first, threaded=True)
    api = f"http://127.0.0.1:{server.server_port}"
    tried = [samples[name] for name in ("listPets", "createPet", "putCategory")]
    with listening(server), ThreadPoolExecutor() as threads:
        printed = threads.map(lambda source: run(language, source, service, api), tried)
        assert "busy" not in "".join(printed)
    for method in ("GET", "POST", "PUT"):
        (first, headers), (second, headers_again) = seen[method]
        assert second - first >= RETRY_AFTER_SECONDS
        key = headers.get("Idempotency-Key")
        assert key == headers_again.get("Idempotency-Key")
        assert bool(key) == (method == "POST")


def test_refusals_say_why(service: Service, language: str, samples: dict[str, str]):
    try:
        told = run(language, samples["getPet"], service)
    except AssertionError as error:  # it has failed, as it should
        told = str(error)
    assert f"There is no animal {EXAMPLE_ID}." in told
    assert "Traceback" not in told
