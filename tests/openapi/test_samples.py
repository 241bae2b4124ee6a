"""The samples of the reference run as they are."""

import subprocess
import sys

from tests.harness.services import Service


def test_python_samples_reach_their_operations(service: Service, operations: dict):
    """Those that name an animal or an order that does not exist get a 404."""
    said = {}
    for name, operation in operations.items():
        sources = {each["label"]: each["source"] for each in operation["x-codeSamples"]}
        done = subprocess.run(
            [sys.executable, "-c", sources["Python"]],
            env={"API": f"{service.url}/v1", "KEY": service.key},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said[name] = done.stdout or done.stderr.splitlines()[-1]
    assert "'name': 'Rex'" in said["createPet"]
    assert "'name': 'Dogs'" in said["putCategory"]
    for name in ("getPet", "getOrder", "updateOrder"):
        assert "404 Client Error" in said[name]
