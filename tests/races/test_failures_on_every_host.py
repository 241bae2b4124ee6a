"""A request that fails on one host is found on every host, and counted for its key."""

from collections.abc import Callable

from petstore.models.keys import Key
from petstore.models.projects import Plan
from petstore.models.requests import totals_of
from tests.harness.clients import Client
from tests.harness.visitors import Visitor
from tests.harness.waiting import wait_until
from tests.races.conftest import Service, of_postgresql_and_redis

SENT, PER_DAY = 9, 5


@of_postgresql_and_redis
def test_failure_on_one_host_is_found_on_another(
    service: Service, key_of: Callable[[Plan], str]
):
    key = key_of(Plan("free"))
    visitor = Visitor(service.urls[-1], key)
    with Client(service.urls[0], key) as client:
        assert client.get("/v1/pets/42", X_Request_ID="mine-1").status == 404
    wait_until(lambda: "There is no animal 42" in visitor.get("/requests?id=mine-1"))


@of_postgresql_and_redis
def test_requests_of_all_hosts_are_counted_for_their_key(
    service: Service, key_of: Callable[[Plan], str]
):
    key = key_of(Plan("enterprise", 100, PER_DAY))
    for number in range(SENT):
        with Client(service.urls[number % len(service.urls)], key) as client:
            client.get()
    found = Key.find_by_prefix(key[:16])
    refused = SENT - PER_DAY
    wait_until(
        lambda: totals_of([found])[found.id] == (PER_DAY, refused, PER_DAY, refused)
    )
