"""Six people at once want the last place of a window of the dashboard: one gets it.

The others are told so, on each store: that a window is full is no fault.
"""

from collections.abc import Callable
from itertools import cycle

import pytest
from limits import RateLimitItem, RateLimitItemPerDay
from requests import Response

from petstore import clock
from petstore.extensions.dashboard import limits
from petstore.extensions.sheets.uploads import LARGE_FILES
from petstore.models.keys import Key
from petstore.quotas.fallback import FallbackRateLimiter
from petstore.settings import read_settings
from tests.harness.crowds import at_once
from tests.harness.services import AMPLE
from tests.harness.visitors import Visitor
from tests.together.races.conftest import Service

PEOPLE = 6
MS_PER_HOUR = 60 * clock.MS_PER_MINUTE
LARGE = "name,category\n" + "Rex,Dogs\n" * 8_000  # more than 64 KiB
REX = {"name": "Rex", "categoryId": "Dogs"}
FORMS = RateLimitItemPerDay(AMPLE.per_day)

# What takes a place in a window, by its item and its subject.
DEEDS: dict[tuple[RateLimitItem, str], list[Callable[[Visitor, str], Response]]] = {
    (limits.NEW_KEYS, "new-keys:{}"): [
        lambda visitor, _: visitor.submit("/keys"),
        lambda visitor, key: visitor.submit(f"/keys/{key[:16]}/rotate"),
    ],
    (limits.SIGN_INS.day, "sign-ins:{}"): [
        lambda visitor, key: visitor.submit("/sign-in", key=key)
    ],
    (limits.FAILED_SIGN_INS.day, "{{sign-in:127.0.0.1}}"): [
        lambda visitor, _: visitor.submit("/sign-in", key="wrong")
    ],
    (limits.PAGES.day, "pages:{}"): [lambda visitor, _: visitor.open("/animals")],
    (FORMS, "{{project:{}}}/forms"): [
        lambda visitor, _: visitor.submit("/animals", **REX)
    ],
    (LARGE_FILES, "long-forms:{}"): [lambda visitor, _: visitor.send_file(LARGE)],
}
WINDOWS = [(*window, deed) for window, deeds in DEEDS.items() for deed in deeds]


@pytest.mark.parametrize(("item", "subject", "deed"), WINDOWS)
def test_one_of_six_gets_the_last_place(
    service: Service,
    key_of: Callable,
    item: RateLimitItem,
    subject: str,
    deed: Callable[[Visitor, str], Response],
):
    first = Key.find_by_prefix(key_of(AMPLE)[:16])
    keys = [Key.issue(first.project) for _ in range(PEOPLE)]
    people = list(zip(map(Visitor, cycle(service.urls), keys), keys, strict=False))
    settings = read_settings(service.environ)
    strategy = FallbackRateLimiter(settings.redis_url, settings.workers)
    for key in keys:  # which would sign in with their reserve
        own = f"reserve:{Key.find_by_prefix(key[:16]).id}"
        strategy.hit(limits.RESERVE.day, own, cost=limits.RESERVE.per_day)
    subject, hour = subject.format(first.project_id), clock.now_ms() // MS_PER_HOUR
    left = strategy.get_window_stats(item, subject).remaining
    strategy.hit(item, subject, cost=left - 1)
    pages = at_once(lambda person: deed(*person), people)
    refused = [page for page in pages if page.status_code in (400, 429)]
    assert {page.status_code for page in pages if page not in refused} <= {200, 401}
    is_of_one_window = hour == clock.now_ms() // MS_PER_HOUR
    assert len(refused) == PEOPLE - 1 or not is_of_one_window
    assert "internal_error" not in service.log
