"""Sessions that revoke all full keys of a project at once leave it one."""

from itertools import cycle
from urllib.error import HTTPError

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.crowds import at_once
from tests.harness.visitors import Visitor
from tests.races.conftest import Service, of_both_engines

KEYS = 4
ROUNDS = 5


@of_both_engines
def test_one_of_all_full_keys_stays_until_it_is_confirmed(
    service: Service, key_of: object
):
    project = Project.add("Shelter", None, Plan("free"))

    def revoke(visitor: Visitor, prefix: str) -> int:
        page = f"/keys/{prefix}"
        try:
            visitor.submit(f"{page}/revoke")
        except HTTPError as error:
            return error.code
        return 303

    for _ in range(ROUNDS):
        keys = [Key.issue(project) for _ in range(KEYS)]
        visitors = map(Visitor, cycle(service.urls), keys)
        work = list(zip(visitors, keys, strict=False))
        statuses = at_once(lambda each: revoke(each[0], each[1][:16]), work)
        assert sorted(statuses) == [303] * (KEYS - 1) + [403]
        [last] = Key.listed(project.id, "working")
        last.revoke()
