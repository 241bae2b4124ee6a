"""Sessions of one project share its limit of new keys, over all workers."""

import re
from itertools import cycle, islice

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.quotas.limiter import Limiter
from petstore.settings import read_settings
from tests.harness.crowds import at_once
from tests.harness.limits import fill_up_hour
from tests.harness.visitors import Visitor
from tests.races.conftest import Service, of_both_engines

SESSIONS = 6
ATTEMPTS = 4  # of each session
LEFT = 10


@of_both_engines
def test_sessions_at_once_get_as_many_keys_as_an_hour_allows(
    service: Service, key_of: object
):
    project = Project.add("Shelter", None, Plan("free"))
    key = Key.issue(project)

    fill_up_hour(Limiter(read_settings(service.environ)), project, leave=LEFT)

    def issue_some(url: str) -> int:
        visitor = Visitor(url, key)
        pages = [visitor.submit("/keys") for _ in range(ATTEMPTS)]
        return sum(bool(re.search(r"pet_[0-9A-Za-z]{48}", page)) for page in pages)

    urls = islice(cycle(service.urls), SESSIONS)
    shown = at_once(issue_some, urls)
    assert sum(shown) == LEFT
    assert Key.select().where(Key.project == project).count() == LEFT + 1
