"""Checks of recorded requests against the final orders and animals."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import inf
from operator import itemgetter
from typing import NamedTuple

from tests.clients import PAGE, Answer
from tests.races.walkers import Deed, Walk

PET_STATUS = {"placed": "pending", "completed": "sold", "cancelled": "available"}
EXPECTED = {
    "placed": {201, "pet_not_available", None},
    "completed": {200, "order_closed", None},
    "cancelled": {200, "order_closed", None},
    "list": {200, None},
}


class Span(NamedTuple):
    """The interval in which something happened; by default, it never did."""

    begin: float = inf
    end: float = inf

    @classmethod
    def of(cls, answers: list[Answer]) -> "Span":
        """Return the span of the acknowledged answers or, without any, of all."""
        answers = [answer for answer in answers if answer.status] or answers
        if not answers:
            return cls()
        return cls(
            min(answer.sent_at for answer in answers),
            max(answer.received_at for answer in answers),
        )


class Life(NamedTuple):
    """The final state of an order, and when it was placed and closed."""

    id: int
    pet: int
    status: str
    placed: Span
    closed: Span

    def may_hold_pet(self, seen: Span) -> bool:
        """Return whether it may have held its animal at some time in the span."""
        is_freed = self.status == "cancelled" and self.closed.end < seen.begin
        return self.placed.begin <= seen.end and not is_freed

    def may_be(self, status: str, seen: Span) -> bool:
        """Return whether it may have had the status at some time in the span."""
        if status == "placed":
            return self.closed.end >= seen.begin
        return status == self.status and self.closed.begin <= seen.end

    def must_be(self, status: str | None, seen: Span) -> bool:
        """Return whether it had the status during the whole span; None is any."""
        if self.placed.end >= seen.begin:
            return False
        if status == "placed":
            return self.closed.begin > seen.end
        return status is None or (
            status == self.status and self.closed.end < seen.begin
        )


def faults(walk: Walk, pets: list[dict], orders: list[dict]) -> list[str]:
    """Return all observations that are impossible if every request is atomic."""
    lives = _lives(walk.deeds, orders)
    return [
        *_disagreeing(pets, orders),
        *_unasked(walk.deeds, lives),
        *(fault for deed in walk.deeds if (fault := _fault(deed, lives))),
    ]


def _lives(deeds: list[Deed], orders: list[dict]) -> dict[int, Life]:
    answers = defaultdict(list)
    for deed in deeds:
        if deed.answer.status == 201:
            answers["placed", deed.answer.json["id"]].append(deed.answer)
        elif deed.answer.status in (200, None):
            answers[deed.verb, deed.order or f"of {deed.pet}"].append(deed.answer)
    return {
        number: Life(
            number,
            pet,
            status,
            Span.of(answers["placed", number] or answers["placed", f"of {pet}"]),
            Span.of(answers[status, number] if status != "placed" else []),
        )
        for number, pet, status in map(itemgetter("id", "petId", "status"), orders)
    }


def _disagreeing(pets: list[dict], orders: list[dict]) -> Iterator[str]:
    by_pet = defaultdict(list)
    for order in orders:
        by_pet[order["petId"]].append(order["status"])
    for pet in pets:
        *earlier, last = by_pet[pet["id"]] or ["cancelled"]
        if set(earlier) - {"cancelled"} or pet["status"] != PET_STATUS[last]:
            yield f"{pet} does not agree with its orders: {by_pet[pet['id']]}"


def _unasked(deeds: list[Deed], lives: dict[int, Life]) -> Iterator[str]:
    for life in lives.values():
        if life.placed == Span() or (life.status != "placed" and life.closed == Span()):
            yield f"nobody asked for {life}"
    acknowledged = {d.answer.json["id"] for d in deeds if d.answer.status == 201}
    others = Counter(each.pet for each in lives.values() if each.id not in acknowledged)
    doubtful = Counter(d.pet for d in deeds if d.answer.status is None)
    if others - doubtful:
        yield f"more orders than were placed, by animal: {others - doubtful}"


def _fault(deed: Deed, lives: dict[int, Life]) -> str | None:
    """Return how an answer contradicts the final orders, or None."""
    outcome, seen = deed.answer.outcome, Span.of([deed.answer])
    if outcome not in EXPECTED[deed.verb]:
        return f"unexpected: {deed}"
    if deed.verb == "list":
        is_true = outcome is None or _is_true(deed, seen, lives)
    elif outcome == 201:
        is_true = _is_kept(deed, seen, lives)
    elif outcome == 200:
        life = lives.get(deed.order)
        is_true = life is not None and (life.status, life.closed) == (deed.verb, seen)
    elif outcome == "pet_not_available":
        others = (life for life in lives.values() if life.pet == deed.pet)
        is_true = any(life.may_hold_pet(seen) for life in others)
    else:
        is_true = outcome is None or lives[deed.order].closed.begin <= seen.end
    return None if is_true else f"not true: {deed}"


def _is_kept(deed: Deed, seen: Span, lives: dict[int, Life]) -> bool:
    """Return whether a placed order exists and was the only one for its animal."""
    own = lives.get(deed.answer.json["id"])
    if own is None or (own.pet, own.placed) != (deed.pet, seen):
        return False
    earlier = (life for life in lives.values() if life.id < own.id)
    return all(life.closed.begin <= seen.end for life in earlier if life.pet == own.pet)


def _is_true(deed: Deed, seen: Span, lives: dict[int, Life]) -> bool:
    """Return whether a page is consistent and complete for some moment."""
    rows = deed.answer.json
    numbers = [row["id"] for row in rows]
    end = numbers[-1] if len(rows) == PAGE else inf
    due = [life for life in lives.values() if deed.after < life.id <= end]
    holders = [row["petId"] for row in rows if row["status"] != "cancelled"]
    return (
        numbers == sorted(set(numbers))
        and all(deed.status in (None, row["status"]) for row in rows)
        and all(lives[row["id"]].may_be(row["status"], seen) for row in rows)
        and {life.id for life in due if life.must_be(deed.status, seen)} <= set(numbers)
        and len(holders) == len(set(holders))
    )
