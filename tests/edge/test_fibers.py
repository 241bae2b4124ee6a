"""Who waits lets others go on, all in one thread."""

import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from contextvars import ContextVar

import pytest

from petstore.fibers import Fibers, elsewhere, has_come, wait_for

MOST = 2


class Loop:
    """The least that drives fibers, and what happened in it."""

    def __init__(self) -> None:
        self.poller = select.epoll()
        self.fibers = Fibers(self.poller, MOST)
        self.story: list[object] = []

    def start(self, function: Callable[[], object]) -> None:
        """Begin a function, and write down what it returns."""
        self.fibers.start(lambda: self.story.append(function()))

    def run(self) -> None:
        """Until nobody waits any more."""
        while len(self.fibers):
            for descriptor, events in self.poller.poll(0.01, 1):
                assert self.fibers.go_on(descriptor, events)
            self.fibers.give_up()


@pytest.fixture
def loop() -> Loop:
    return Loop()


@pytest.fixture
def pipe() -> Iterator[Callable[[], tuple[int, int]]]:
    with ExitStack() as stack:

        def pipe() -> tuple[int, int]:
            ends = os.pipe()
            for end in ends:
                stack.callback(os.close, end)
            return ends

        yield pipe


def reading(name: str, descriptor: int, seconds: float = 10) -> Callable[[], str]:
    """A function that waits until something can be read."""

    def read() -> str:
        found = wait_for(descriptor, select.EPOLLIN, seconds)
        return f"{name} {os.read(descriptor, 9).decode() if found else 'in vain'}"

    return read


def test_each_goes_on_when_its_own_answer_has_come(loop, pipe):
    (first, to_first), (second, to_second) = pipe(), pipe()
    loop.start(reading("first", first))
    loop.start(reading("second", second))
    os.write(to_second, b"b")
    loop.poller.poll(0)  # so that it is known before the other comes
    loop.fibers.go_on(second, select.EPOLLIN)
    os.write(to_first, b"a")
    loop.run()
    assert loop.story == ["second b", "first a"]


def test_who_does_not_wait_is_at_its_end_at_once(loop):
    loop.start(lambda: "done")
    assert loop.story == ["done"]
    assert not len(loop.fibers)


def test_nobody_waits_longer_than_said(loop, pipe):
    silent, _ = pipe()
    loop.start(reading("patient", silent, 0.02))
    loop.run()
    assert loop.story == ["patient in vain"]


def test_what_came_while_the_process_stood_still_has_come_in_time(loop, pipe):
    end, to_end = pipe()
    loop.start(reading("patient", end, 0))
    os.write(to_end, b"a")
    loop.fibers.give_up()
    assert loop.story == ["patient a"]


def test_so_many_are_in_progress_and_no_more(loop, pipe):
    pipes = [pipe() for _ in range(MOST)]
    for number, (end, _) in enumerate(pipes):
        loop.start(reading(str(number), end))
    loop.start(lambda: "last")
    assert loop.story == []
    os.write(pipes[1][1], b"x")
    loop.fibers.go_on(pipes[1][0], select.EPOLLIN)
    assert loop.story == ["1 x", "last"]
    os.write(pipes[0][1], b"y")
    loop.run()
    assert loop.story == ["1 x", "last", "0 y"]


def test_one_descriptor_can_be_waited_for_again_and_again(loop, pipe):
    end, to_end = pipe()

    def read_twice() -> str:
        return reading("then", end)() + reading("and", end)()

    loop.start(read_twice)
    os.write(to_end, b"a")
    loop.fibers.go_on(end, select.EPOLLIN)
    os.write(to_end, b"b")
    loop.run()
    assert loop.story == ["then aand b"]


def test_what_blocks_is_done_elsewhere(loop):
    gate, here = threading.Event(), threading.get_ident()

    def pass_gate() -> bool:
        gate.wait()
        return threading.get_ident() == here

    loop.start(lambda: elsewhere(pass_gate))
    loop.start(gate.set)
    loop.run()
    assert loop.story == [None, False]


def test_what_fails_elsewhere_fails_here(loop):
    def fail() -> str:
        with pytest.raises(ZeroDivisionError):
            elsewhere(lambda: 1 // 0)
        return "failed"

    loop.start(fail)
    loop.run()
    assert loop.story == ["failed"]


def test_what_is_known_here_is_known_elsewhere(loop):
    known = ContextVar("known", default="nothing")

    def ask() -> str:
        known.set("something")
        return elsewhere(known.get)

    loop.start(ask)
    loop.run()
    assert loop.story == ["something"]


def test_outside_a_loop_waiting_is_waiting(pipe):
    end, to_end = pipe()
    assert wait_for(end, select.EPOLLIN, 0.01) == 0
    assert not has_come(end)
    os.write(to_end, b"x")
    assert wait_for(end, select.EPOLLIN) == select.EPOLLIN
    assert has_come(end)
    assert elsewhere(threading.get_ident) == threading.get_ident()
