"""The benchmarks start as docs/performance.md calls them."""

import re
import shlex
import sys
from importlib import import_module

import pytest

from tests.harness.servers import ROOT

PAGE = (ROOT / "docs" / "performance.md").read_text()
COMMANDS = re.findall(
    r"^\.venv/bin/python -m (benchmarks\.[^#\n]+)", PAGE, re.MULTILINE
)


class HasBegun(Exception):
    """The options were accepted, and the first server would start."""


def begin(store: str, proxies: int = 0) -> None:
    raise HasBegun


@pytest.mark.parametrize("command", COMMANDS)
def test_documented_options_are_accepted(monkeypatch: pytest.MonkeyPatch, command: str):
    name, *options = shlex.split(command)
    benchmark = import_module(name)
    monkeypatch.setattr(sys, "argv", [name, *options])
    monkeypatch.setattr(benchmark, "stage", begin)
    with pytest.raises(HasBegun):
        benchmark.main()
