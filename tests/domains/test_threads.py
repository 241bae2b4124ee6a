"""Threads of a worker are bounded, for all projects together and for each."""

import threading
from collections.abc import Iterator

import pytest

from petstore.domains.threads import BoundedThreads

SHELTER, RIVAL = 1, 2


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    """What the threads of a test wait for."""
    ended = threading.Event()
    yield ended
    ended.set()


@pytest.mark.usefixtures("app")
def test_one_project_takes_only_some_of_them(ended: threading.Event):
    threads = BoundedThreads(limit=4, limit_per_project=2)
    begun = [threads.start(SHELTER, ended.wait) for _ in range(3)]
    begun += [threads.start(RIVAL, ended.wait) for _ in range(3)]
    assert begun == [True, True, False, True, True, False]
    ended.set()
    threads.wait()


@pytest.mark.usefixtures("app")
def test_there_are_never_more_than_the_most(ended: threading.Event):
    threads = BoundedThreads(limit=3, limit_per_project=1)
    assert [threads.start(n, ended.wait) for n in range(4)] == [True, True, True, False]
    ended.set()
    threads.wait()
    assert threads.start(SHELTER, lambda: None)
    threads.wait()
