"""Limits on background threads, in total and for each project."""

import threading
from collections.abc import Iterator

import pytest

from petstore.domains.threads import BoundedThreads

SHELTER, RIVAL = 1, 2


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    """An event that the threads of a test wait for."""
    ended = threading.Event()
    yield ended
    ended.set()


@pytest.mark.usefixtures("app")
def test_threads_of_one_project_are_limited(ended: threading.Event):
    threads = BoundedThreads(limit=4, limit_per_project=2)
    begun = [threads.start(SHELTER, ended.wait) for _ in range(3)]
    begun += [threads.start(RIVAL, ended.wait) for _ in range(3)]
    assert begun == [True, True, False, True, True, False]
    ended.set()
    threads.wait()


@pytest.mark.usefixtures("app")
def test_total_number_of_threads_is_limited(ended: threading.Event):
    threads = BoundedThreads(limit=3, limit_per_project=1)
    assert [threads.start(n, ended.wait) for n in range(4)] == [True, True, True, False]
    ended.set()
    threads.wait()
    assert threads.start(SHELTER, lambda: None)
    threads.wait()
