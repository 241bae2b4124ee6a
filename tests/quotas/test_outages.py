"""The processes of a host say once that a part of the counter store is lost."""

import multiprocessing
import os
import uuid
from collections.abc import Callable

import pytest

from petstore.quotas import outages

fork = multiprocessing.get_context("fork")


@pytest.fixture
def part() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "SETTLED_SECONDS", 0.0)


def in_a_worker(do: Callable[[], object]) -> bool:
    """What another process of the host finds."""
    worker = fork.Process(target=lambda: os._exit(bool(do())))
    worker.start()
    worker.join()
    return bool(worker.exitcode)


def test_one_process_says_that_it_is_lost(part: str):
    assert in_a_worker(lambda: outages.note_failure(part))
    assert not outages.note_failure(part)
    assert outages.is_on(part)


def test_one_process_says_that_it_is_back(part: str, settled: None):
    outages.note_failure(part)
    assert in_a_worker(lambda: outages.note_answer(part))
    assert not outages.note_answer(part)
    assert not outages.is_on(part)


def test_the_next_outage_is_said_again(part: str, settled: None):
    for _ in range(2):
        assert in_a_worker(lambda: outages.note_failure(part))
        assert outages.note_answer(part)


def test_an_answer_between_two_failures_is_no_end(part: str):
    outages.note_failure(part)
    assert not outages.note_answer(part)
    assert not outages.note_failure(part)


def test_a_part_that_was_replaced_needs_no_answer(part: str):
    outages.note_failure(part)
    assert outages.note_replacement(part)
    assert not outages.note_replacement(part)


def test_a_process_that_dies_leaves_no_lock(part: str):
    def die() -> None:
        with outages._locked(part):
            os._exit(1)

    assert in_a_worker(die)
    assert outages.note_failure(part)


def test_parts_are_lost_one_by_one(part: str):
    outages.note_failure(part)
    assert not outages.is_on(f"{part}, another")
