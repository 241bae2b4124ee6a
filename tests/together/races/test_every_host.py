"""What is done on one host holds on every worker of every host."""

from collections.abc import Callable
from itertools import cycle, islice

from petstore.models.callers import Caller
from petstore.models.projects import Plan
from tests.harness import servers
from tests.harness.clients import Client
from tests.harness.services import AMPLE
from tests.harness.visitors import Visitor
from tests.harness.waiting import wait_until
from tests.together.races.conftest import Service, of_postgresql

REQUESTS = 40
REFUSED = {401, 429}  # 429 after too many invalid keys from one address


def statuses(service: Service, key: str) -> set[int | None]:
    """Send each request over a new connection, so that any worker may answer."""
    found = set()
    for url in islice(cycle(service.urls), REQUESTS):
        with Client(url, key) as client:
            found.add(client.get().status)
    return found


@of_postgresql
def test_a_revoked_key_is_refused_by_every_worker(
    service: Service, key_of: Callable[[Plan], str]
):
    key = key_of(AMPLE)
    assert statuses(service, key) == {200}
    assert not servers.flask(service.environ, "keys", "revoke", key[:16]).returncode
    assert statuses(service, key) <= REFUSED


@of_postgresql
def test_a_suspended_project_is_served_by_no_worker(
    service: Service, key_of: Callable[[Plan], str]
):
    key = key_of(AMPLE)
    change = ("projects", "change", Caller.find_by_key(key).slug)
    visitors = [Visitor(url, key) for url in service.urls]
    for option, found in (("--suspend", {403}), ("--resume", {200})):
        assert not servers.flask(service.environ, *change, option).returncode
        assert statuses(service, key) == found
        pages = [visitor.get("/animals") for visitor in visitors * 2]
        assert all("<h1>Sign in</h1>" in page for page in pages)


@of_postgresql
def test_failure_on_one_host_is_found_on_another(
    service: Service, key_of: Callable[[Plan], str]
):
    key = key_of(Plan("free"))
    visitor = Visitor(service.urls[-1], key)
    with Client(service.urls[0], key) as client:
        assert client.get("/v1/pets/42", X_Request_ID="mine-1").status == 404
    wait_until(lambda: "There is no animal 42" in visitor.get("/requests?id=mine-1"))
