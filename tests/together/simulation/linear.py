"""Searches for an order in which operations can have happened one after the other.

The search is that of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993)
with the memory of Lowe ("Testing for Linearizability", 2017): next comes any operation
that no other one must precede, and no state is looked at twice with the same rest.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

UNDECIDED = "histories too large to search"  # the name of their count
FEW_STATES = 1000
MOST_STATES = 100_000
# How many unanswered operations have happened at most, and how many states are looked
# at: most histories have an order that is found at once. For the others few are tried
# first, since every set of many is dear to try.
SEARCHES = (
    (inf, FEW_STATES),
    *((most, MOST_STATES) for most in (0, 1, 2, 3, 5, inf)),
)


class Undecided(Exception):
    """There are too many states to know whether there is an order."""


class Operation(NamedTuple):
    """What was done at some moment between a call and its return.

    It returns at infinity if nobody knows whether it was done at all.
    """

    called_at: float
    returned_at: float
    call: Hashable  # with its answer
    is_read: bool = False  # its answer says that it has changed nothing
    source: object = None  # for people


# Returns the states that a call can lead to, none if its answer does not fit.
Step = Callable[[Any, Any], Iterable[Hashable]]


def contradiction(
    operations: Iterable[Operation], initial: Hashable, step: Step
) -> Operation | None:
    """Return an operation that fits into no order, or None if there is an order.

    Raises `Undecided` after the last of SEARCHES, if that has not looked at all states.
    """
    calls = sorted(operations, key=lambda each: each.called_at)
    found, is_whole = None, True
    for unanswered, states in SEARCHES:
        found, is_whole = _search(calls, initial, step, unanswered, states)
        if found is None:
            break
    if not is_whole:
        raise Undecided
    return found


def _search(
    calls: Sequence[Operation],
    initial: Hashable,
    step: Step,
    unanswered: float,
    states: int,
) -> tuple[Operation | None, bool]:
    """Search for an order in which at most so many unanswered operations happened.

    Also return whether all states were looked at.
    """
    needed = sum(1 << n for n, each in enumerate(calls) if each.returned_at < inf)
    paths: list[Iterator[tuple[int, Hashable]]] = [iter([(0, initial)])]
    seen: set[tuple[int, Hashable]] = set()
    furthest, most = 0, -1
    while paths and len(seen) < states:
        done, state = next(paths[-1], (None, None))
        if done is None:
            paths.pop()
            continue
        done = _with_reads(calls, done, state, step)
        if (done, state) in seen:
            continue
        seen.add((done, state))
        if (count := (done & needed).bit_count()) > most:
            furthest, most = done, count
        if done & needed == needed:
            return None, True
        has_room = (done & ~needed).bit_count() < unanswered
        paths.append(_followers(calls, done, state, step, has_room=has_room))
    unfit = (each for n, each in enumerate(calls) if not furthest >> n & 1)
    return min(unfit, key=lambda each: each.returned_at), not paths


def _with_reads(
    calls: Sequence[Operation], done: int, state: Hashable, step: Step
) -> int:
    """Add all reads that fit, which cannot be wrong."""
    before = -1
    while done != before:
        before = done
        for number in _candidates(calls, done):
            if calls[number].is_read and [*step(state, calls[number].call)]:
                done |= 1 << number
    return done


def _followers(
    calls: Sequence[Operation],
    done: int,
    state: Hashable,
    step: Step,
    *,
    has_room: bool,
) -> Iterator[tuple[int, Hashable]]:
    """Yield what may come next; of equal calls only the one that must come first.

    An unanswered one comes only if there is room for one more.
    """
    chosen: dict[Hashable, int] = {}
    candidates = list(_candidates(calls, done))
    for number in sorted(candidates, key=lambda each: calls[each].returned_at):
        chosen.setdefault(calls[number].call, number)
    for call, number in chosen.items():
        is_unanswered = calls[number].returned_at == inf
        if has_room or not is_unanswered:
            for after in set(step(state, call)):
                # What is unanswered and changes nothing need not have happened.
                if after != state or not is_unanswered:
                    yield done | 1 << number, after


def _candidates(calls: Sequence[Operation], done: int) -> Iterator[int]:
    """Yield what was called before any other one has returned."""
    deadline = inf
    rest = ~done & (1 << len(calls)) - 1
    while rest:
        number = (rest & -rest).bit_length() - 1
        if calls[number].called_at > deadline:
            return
        deadline = min(deadline, calls[number].returned_at)
        yield number
        rest &= rest - 1
