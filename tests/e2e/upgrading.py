"""What clients do during an upgrade, on hosts of either release."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from petstore.models.credentials import PREFIX_LENGTH
from tests.e2e.members import Member
from tests.harness.clients import ORDERS, PETS, Answer, Client
from tests.harness.waiting import wait_until

BASE = "pets.example.net"
TARGET = f"shelter.{BASE}"
SHOP, OLD_SHOP = "shop.example.org", "old.example.org"
CATEGORIES, CATEGORY = "/v1/categories", 7
PET = {"name": "Rex", "categoryId": CATEGORY}
KEY = re.compile(r"pet_[0-9A-Za-z]{48}")
PAGES = ("", "/animals", "/orders", "/keys", "/settings/domains")
DOMAINS = "/settings/domains"
# What was done, what came of it, and what should have.
Deeds = Iterator[tuple[str, Any, Any]]


@dataclass
class Cast:
    """Keys of projects that the release before has made, and what they have done."""

    key: str  # of the project with domains and members
    counted: str  # of one that only `deeds` uses
    before: str  # of one that is written before the upgrade
    both: str  # of one that is written while both releases run
    again: str  # of one that is written while they run again
    member: Member = field(default_factory=lambda: Member(BASE))
    # One page at a time: a project opens 120 of them in a minute.
    pages: Iterator[str] = field(default_factory=lambda: cycle(PAGES))
    stored: dict[str, bytes] = field(default_factory=dict)  # by Idempotency-Key
    counts: dict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))

    def client(self, url: str) -> Client:
        """Return a client of the project with domains."""
        return Client(url, self.key)

    def store(self, client: Client, key: str) -> Answer:
        """Add an animal with an Idempotency-Key, and remember the response."""
        answer = client.post(PET, Host=BASE, Idempotency_Key=key)
        self.stored[key] = answer.content
        return answer


def faults(deeds: Deeds) -> list[str]:
    """Return what did not come out as it should."""
    return [f"{what}: {came}, not {due}" for what, came, due in deeds if came != due]


def settle(url: str, cast: Cast) -> None:
    """Let a host have what is to go on: a session, domains, a response."""
    assert cast.member.sign_in(url, cast.key).is_open
    for name in (SHOP, OLD_SHOP):
        own(url, cast, name)
    with cast.client(url) as client:
        cast.store(client, "first")


def own(url: str, cast: Cast, name: str) -> None:
    """Add a domain and verify it."""
    page = cast.member.submit(url, DOMAINS, on=DOMAINS, name=name)
    path = page.path.removeprefix("/dashboard")
    cast.member.submit(url, f"{path}/verify", on=path)
    with cast.client(url) as client:
        wait_until(lambda: client.get(Host=name).status in (200, 301), f"no {name}")


def deeds(url: str, cast: Cast) -> Deeds:
    """Use what both releases have, on one host."""
    with cast.client(url) as client:
        yield from _call(client)
        yield from _call_hosts(client)
        for key, content in cast.stored.items():
            again = client.post(PET, Host=BASE, Idempotency_Key=key)
            replay = (again.headers["Idempotent-Replayed"], again.content)
            yield f"repeat the request {key}", replay, ("true", content)
    with Client(url, cast.counted) as client:
        cast.counts[url].append(client.get(Host=BASE))
        yield "use a key that is counted", cast.counts[url][-1].status, 200
    yield from _visit(url, cast)


def _call(client: Client) -> Deeds:
    added = client.post(PET, Host=BASE)
    yield "add an animal", added.status, 201
    pet = client.get(added.headers.get("Location", PETS), Host=BASE)
    yield "read it", pet.json, added.json
    order = client.post({"petId": added.json.get("id")}, ORDERS, Host=BASE)
    yield "order it", order.status, 201
    path, done = f"{ORDERS}/{order.json.get('id')}", {"status": "completed"}
    answer = client.send("PATCH", path, done, Host=BASE)
    yield "complete the order", answer.status, 200
    for path in (f"{PETS}?status=sold&limit=5", ORDERS, CATEGORIES):
        yield f"list {path}", client.get(path, Host=BASE).status, 200
    path, name = f"{CATEGORIES}/{CATEGORY}", {"name": "Dogs"}
    answer = client.send("PUT", path, name, Host=BASE)
    yield "name a category", answer.status, 200


def _call_hosts(client: Client) -> Deeds:
    for host, status in ((SHOP, 200), (OLD_SHOP, 301), (TARGET, 200)):
        yield f"call {host}", client.get(Host=host).status, status
    asked = client.get(f"/internal/tls-allowed?domain={SHOP}", Host=BASE)
    yield "ask for a certificate", asked.status, 200


def use_new_deeds(url: str, cast: Cast) -> Deeds:
    """Leave what only this release can do, for the release before to live with."""
    with cast.client(url) as client:
        pet = client.post(PET, Host=BASE).json["id"]
        order = {"petId": pet, "reference": "Jo"}
        ordered = client.post(order, ORDERS, Host=BASE)
        yield "order with a reference", ordered.json["reference"], "Jo"
        path, cancelled = ordered.headers["Location"], {"status": "cancelled"}
        client.send("PATCH", path, cancelled, Host=BASE)
        changed = client.send("PATCH", f"{PETS}/{pet}", {"name": "Max"}, Host=BASE)
        yield "correct an animal", changed.json["name"], "Max"
        gone = client.send("DELETE", f"{PETS}/{pet}", Host=BASE)
        yield "withdraw an animal that has an order", gone.status, 204


def _visit(url: str, cast: Cast) -> Deeds:
    path = next(cast.pages)
    page = cast.member.get(url, path)
    yield f"open the page {path}", (page.status, page.is_signed_in), (200, True)
    other = Member(BASE)
    yield "sign in", other.sign_in(url, cast.key).is_open, True
    other.submit(url, "/sign-out", on="")
    yield "use a session that has ended", other.get(url, "").is_signed_in, False


def crossing(first: str, second: str, cast: Cast, name: str) -> Deeds:
    """Begin on one host what goes on at another one; the name is that of a domain."""
    with cast.client(first) as one, cast.client(second) as two:
        pet = cast.store(one, name).json
        found = two.get(f"{PETS}/{pet['id']}", Host=BASE)
        yield "read an animal of the other", found.json, pet
        order = one.post({"petId": pet["id"]}, ORDERS, Host=BASE).json
        path, cancelled = f"{ORDERS}/{order['id']}", {"status": "cancelled"}
        answer = two.send("PATCH", path, cancelled, Host=BASE)
        yield "cancel an order of the other", answer.status, 200
        status = one.get(path, Host=BASE).json["status"]
        yield "read what the other has cancelled", status, "cancelled"
        own(first, cast, name)
        yield "call a domain of the other", two.get(Host=name).status, 301
    yield from _cross_keys(first, second, cast)


def _cross_keys(first: str, second: str, cast: Cast) -> Deeds:
    issued = cast.member.submit(first, "/keys", on="/keys", label="Crossing")
    [key] = set(KEY.findall(issued.text)) or {""}
    with Client(first, key) as one, Client(second, key) as two:
        yield "use a key of the other", two.get(Host=BASE).status, 200
        path = f"/keys/{key[:PREFIX_LENGTH]}"
        cast.member.submit(second, f"{path}/revoke", on=path)
        yield "use a key that the other has revoked", one.get(Host=BASE).status, 401
