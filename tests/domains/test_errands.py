"""Threads of a worker are bounded, for all projects together and for each."""

import threading
from collections.abc import Iterator

import pytest

from petstore.domains.errands import Errands

SHELTER, RIVAL = 1, 2


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    """What the errands of a test wait for."""
    ended = threading.Event()
    yield ended
    ended.set()


@pytest.mark.usefixtures("app")
def test_one_project_takes_only_some_of_them(ended: threading.Event):
    errands = Errands(most=4, most_of_one=2)
    begun = [errands.start(SHELTER, ended.wait) for _ in range(3)]
    begun += [errands.start(RIVAL, ended.wait) for _ in range(3)]
    assert begun == [True, True, False, True, True, False]
    ended.set()
    errands.wait()


@pytest.mark.usefixtures("app")
def test_there_are_never_more_than_the_most(ended: threading.Event):
    errands = Errands(most=3, most_of_one=1)
    assert [errands.start(n, ended.wait) for n in range(4)] == [True, True, True, False]
    ended.set()
    errands.wait()
    assert errands.start(SHELTER, lambda: None)
    errands.wait()
