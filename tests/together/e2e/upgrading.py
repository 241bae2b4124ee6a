"""What clients do during an upgrade, on hosts of either release."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests

from tests.harness.clients import ORDERS, PETS, Client
from tests.harness.form_keys import form_key
from tests.harness.waiting import wait_until

BASE = "pets.example.net"
TARGET, SHOP = f"shelter.{BASE}", "shop.example.org"
CATEGORIES, CATEGORY = "/v1/categories", 7
PET = {"name": "Rex", "categoryId": CATEGORY}
PAGES = ("", "/animals", "/orders", "/keys", "/activity", "/requests")
PAGES += ("/categories", "/sessions", "/usage", "/settings/domains")
PAUSE_SECONDS = 0.01
DOMAINS = "/settings/domains"
# What was done, what came of it, and what should have.
Deeds = Iterator[tuple[str, Any, Any]]


SIGN_IN = "/sign-in"


class Page(NamedTuple):
    """A page of the dashboard: where it is after redirections, and what it says."""

    path: str
    status: int
    text: str

    @property
    def is_signed_in(self) -> bool:
        """Whether it is no page that asks to sign in."""
        return not self.path.startswith(f"/dashboard{SIGN_IN}")

    @property
    def is_open(self) -> bool:
        """Whether it is what somebody sees who is signed in."""
        return self.status == 200 and self.is_signed_in


class Member:
    """A browser with cookies, to which all hosts are the same one."""

    def __init__(self, host: str) -> None:
        self._session = requests.Session()
        self._session.headers.update(
            {
                "Host": host,
                "Origin": f"https://{host}",
                "Referer": f"https://{host}/dashboard",
                "X-Forwarded-For": "192.0.2.7",
                "X-Forwarded-Proto": "https",
            }
        )

    def get(self, url: str, path: str) -> Page:
        """Open a page of the dashboard at one of the hosts, and follow redirections."""
        return self._ask("GET", url, f"/dashboard{path}")

    def submit(self, url: str, path: str, **fields: str) -> Page:
        """Send a form to one of the hosts, and follow redirections."""
        cookie = next(iter(self._session.cookies.values()), "")
        own = {"idempotency_key": form_key(cookie, fields.get("idempotency_key", ""))}
        return self._ask("POST", url, f"/dashboard{path}", fields | own)

    def sign_in(self, url: str, key: str) -> Page:
        return self.submit(url, SIGN_IN, key=key)

    def _ask(
        self, method: str, url: str, path: str, fields: dict[str, str] | None = None
    ) -> Page:
        answer = self._session.request(
            method, url + path, data=fields, allow_redirects=False
        )
        for cookie in self._session.cookies:
            cookie.secure = False  # the hosts are reached without TLS
        if answer.status_code == 303:
            to = urlsplit(answer.headers["Location"])
            return self._ask("GET", url, to._replace(scheme="", netloc="").geturl())
        return Page(path, answer.status_code, answer.text)


class HostClient(Client):
    """A client of the base domain, which pauses before each request."""

    def send(self, *request: Any, **headers: str) -> Any:
        time.sleep(PAUSE_SECONDS)
        return super().send(*request, **{"Host": BASE} | headers)


@dataclass
class Cast:
    """A key of a project that the release before has made, and what it has done."""

    key: str
    member: Member = field(default_factory=lambda: Member(BASE))
    # One page at a time: a project opens 120 of them in a minute.
    pages: Iterator[str] = field(default_factory=lambda: cycle(PAGES))
    stored: dict[str, bytes] = field(default_factory=dict)  # by Idempotency-Key
    orders: list[str] = field(default_factory=list)  # that are open
    form: str = "form-0"  # the key of the form that was sent last

    def settle(self, url: str) -> None:
        """Let a host have what is to go on: a session and a domain."""
        assert self.member.sign_in(url, self.key).is_open
        page = self.member.submit(url, DOMAINS, name=SHOP)
        path = page.path.removeprefix("/dashboard")
        self.member.submit(url, f"{path}/verify")
        with HostClient(url, self.key) as client:
            wait_until(lambda: client.get(Host=SHOP).status == 200, "no domain")

    def deeds(self, url: str) -> Deeds:
        """Use what both releases have, and go on with what any host has begun."""
        with HostClient(url, self.key) as client:
            for key, content in self.stored.items():
                again = client.post(PET, Idempotency_Key=key)
                replay = (again.headers["Idempotent-Replayed"], again.content)
                yield f"repeat the request {key}", replay, ("true", content)
            for path in self.orders:
                answer = client.send("PATCH", path, {"status": "completed"})
                yield f"complete the order {path}", answer.status, 200
            key = f"key-{len(self.stored)}"
            added = client.post(PET, Idempotency_Key=key)
            yield "add an animal", added.status, 201
            self.stored[key] = added.content
            pet = client.get(added.headers["Location"])
            yield "read it", pet.json, added.json
            order = client.post({"petId": pet.json["id"]}, ORDERS)
            yield "order it", order.status, 201
            self.orders = [f"{ORDERS}/{order.json['id']}"]
            for path in (f"{PETS}?status=sold&limit=5", ORDERS, CATEGORIES):
                yield f"list {path}", client.get(path).status, 200
            path = f"{CATEGORIES}/{CATEGORY}"
            named = client.send("PUT", path, {"name": "Dogs"})
            yield "name a category", named.status, 200
            for host in (SHOP, TARGET):
                yield f"call {host}", client.get(Host=host).status, 200
        # The last form comes again, perhaps to the other release, and then a new one.
        for key in (self.form, f"form-{len(self.stored)}"):
            self.form, form = key, {"idempotency_key": key, "categoryId": "7"}
            page = self.member.submit(url, "/animals", name=key, **form)
            yield f"send the {key}", f"Added {key}" in page.text, True
        path = next(self.pages)
        page = self.member.get(url, path)
        yield f"open the page {path}", (page.status, page.is_signed_in), (200, True)
        other = Member(BASE)
        yield "sign in", other.sign_in(url, self.key).is_open, True
        other.submit(url, "/sign-out")
        yield "use a session that has ended", other.get(url, "").is_signed_in, False

    def new_deeds(self, url: str) -> Deeds:
        """Leave what only this release can do, for the release before to live with."""
        with HostClient(url, self.key) as client:
            pet = client.post(PET).json["id"]
            ordered = client.post({"petId": pet, "reference": "Jo"}, ORDERS)
            yield "order with a reference", ordered.json["reference"], "Jo"
            path = ordered.headers["Location"]
            client.send("PATCH", path, {"status": "cancelled"})
            changed = client.send("PATCH", f"{PETS}/{pet}", {"name": "Max"})
            yield "correct an animal", changed.json["name"], "Max"
            gone = client.send("DELETE", f"{PETS}/{pet}")
            yield "withdraw an animal that has an order", gone.status, 204
