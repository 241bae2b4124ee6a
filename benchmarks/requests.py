"""The requests whose cost is counted."""

import ipaddress
import itertools
import json
import random
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.stage import Stage
from benchmarks.tenants import CATEGORIES, issue_keys, settle, sign_in
from petstore.models.credentials import new_key

# Each kind of request, and the status of its response.
CASES = {"list": 200, "get": 200, "create": 201, "order": 201, "401": 401, "429": 429}
# The dearest of what plans allow: a hundred animals, over the API and as a page of the
# dashboard, and a create with an Idempotency-Key.
DEAREST = {"hundred": 200, "page": 200, "once": 201}
PAGE = "/dashboard/animals?limit=100"
# Nothing is written about keys that are said to be used later than now.
LONG_FROM_NOW_MS = 1 << 42
# Fewer requests than an address may send without a valid key in a minute.
REQUESTS_OF_ADDRESS = 50


class Request(NamedTuple):
    """A request, the loopback address that sends it, and the status of its response."""

    method: str
    path: str
    headers: dict[str, str]
    body: str
    address: str
    expected: int


class Crowd:
    """Those who send requests, of which no two are alike."""

    def __init__(self, place: Stage) -> None:
        self._tenants = settle(place)
        self._spent = itertools.cycle(issue_keys(place, "spent", per_day=1))
        place.sql(f"UPDATE api_key SET last_used_ms = {LONG_FROM_NOW_MS}")
        self._any = random.Random(0)  # the same in each run
        self._cookies = sign_in(place, self._tenants)
        self._addresses = _addresses()
        self._ordered = itertools.count()

    def requests(self, case: str, count: int) -> list[Request]:
        """Return that many requests of one kind."""
        return [self._request(case) for _ in range(count)]

    def _request(self, case: str) -> Request:
        tenant, number = self._any.choice(self._tenants), self._any.randrange
        path, key, body = "/v1/pets", tenant.key, None
        if case in ("create", "once"):
            body = {"name": f"Rex {number(10**6)}", "categoryId": number(CATEGORIES)}
        elif case == "order":
            path, key, body = self._order()
        elif case == "get":
            path += f"/{number(tenant.first, tenant.last + 1, tenant.step)}"
        else:
            limit = 100 if case == "hundred" else 20
            most = tenant.last - limit * tenant.step
            path += f"?limit={limit}&after={number(tenant.first - 1, most)}"
        if case == "401":
            key = new_key()  # the right checksum, and nobody's
        elif case == "429":
            key = next(self._spent)
        headers = {"Authorization": f"Bearer {key}"}
        if case == "page":
            path, headers = PAGE, {"Cookie": self._cookies[tenant]}
        elif case == "once":
            headers["Idempotency-Key"] = f"{number(10**18)}"
        sent = next(self._addresses), (CASES | DEAREST)[case]
        if body is None:
            return Request("GET", path, headers, "", *sent)
        headers["Content-Type"] = "application/json"
        return Request("POST", path, headers, json.dumps(body), *sent)

    def _order(self) -> tuple[str, str, dict[str, int]]:
        """Return an order of an animal that nobody has ordered."""
        number, place = divmod(next(self._ordered), len(self._tenants))
        tenant = self._tenants[place]
        pet = tenant.first + 3 * tenant.step * number  # one in three is available
        return "/v1/store/orders", tenant.key, {"petId": pet}


def _addresses() -> Iterator[str]:
    for address in ipaddress.ip_network("127.1.0.0/16").hosts():
        yield from [str(address)] * REQUESTS_OF_ADDRESS
