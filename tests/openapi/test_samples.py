"""The samples of the reference run as they stand: those in Python.

Those in other languages need programs that only the end-to-end tests have.
"""

from pathlib import Path

from tests.harness.code_samples import (
    fill,
    python_samples,
    require_all_succeed,
    require_patience,
)
from tests.harness.services import Service


def test_python_samples_succeed_and_read_all_pages(service: Service, tmp_path: Path):
    fill(service)
    require_all_succeed(python_samples(service), tmp_path)


def test_python_samples_wait_out_a_429(service: Service, tmp_path: Path):
    require_patience(python_samples(service), tmp_path)
