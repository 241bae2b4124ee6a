"""Sessions of the dashboard are seen and ended alike on every worker and host."""

from itertools import cycle, islice

from petstore.extensions.dashboard.keys import list_keys
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.crowds import at_once
from tests.harness.visitors import Visitor
from tests.together.races.conftest import Service, of_postgresql

PEOPLE = 6
PAGES = 8
FULL_KEYS, ROUNDS = 4, 3
SIGN_IN = "<title>Sign in"
SESSIONS = "<title>Sessions"


def opened(visitor: Visitor) -> set[str]:
    """Return what the next requests of a visitor, over several workers, open."""
    pages = [visitor.get("/sessions") for _ in range(PAGES)]
    return {part for page in pages for part in (SIGN_IN, SESSIONS) if part in page}


@of_postgresql
def test_sessions_that_are_ended_are_over_on_every_worker(
    service: Service, key_of: object
):
    project = Project.add("Shelter", None, Plan("free"))
    keys = [Key.issue(project) for _ in range(2)]
    pairs = islice(zip(cycle(service.urls), cycle(keys)), PEOPLE)
    first, *others = [Visitor(url, key) for url, key in pairs]
    first.submit("/sessions/end-others")
    assert at_once(opened, others) == [{SIGN_IN}] * len(others)
    assert opened(first) == {SESSIONS}


@of_postgresql
def test_one_of_all_full_keys_stays_until_it_is_confirmed(
    service: Service, key_of: object
):
    project = Project.add("Shelter", None, Plan("free"))

    for _ in range(ROUNDS):
        keys = [Key.issue(project) for _ in range(FULL_KEYS)]
        visitors = map(Visitor, cycle(service.urls), keys)
        work = list(zip(visitors, keys, strict=False))
        answers = at_once(
            lambda each: each[0].submit(f"/keys/{each[1][:16]}/revoke"), work
        )
        statuses = [answer.status_code for answer in answers]
        assert sorted(statuses) == [200] * (FULL_KEYS - 1) + [403]
        [last] = list_keys(project.id, "working")
        last.revoke()
