"""Random attacks on a project by tenants with valid keys and sessions."""

import random
from collections.abc import Callable

import requests

from tests.torture.tenants import BASE, DOMAIN, Tenant, Victim

# Another project's rows look missing; the form or the number may also be invalid.
REFUSED = {303, 400, 401, 404, 409, 415, 421, 422, 429}
ANY = REFUSED | {200, 201, 204, 301}
NASTY = ("", "0", "-1", "x", "'; DROP TABLE pet; --", "\x00", "é" * 99, "9" * 30)
KEY_FORMS = ("rotate", "revoke", "unban")
DOMAIN_FORMS = ("verify", "primary", "remove")
LISTS = ("pets", "store/orders", "categories")
PAGES = ("", "/animals", "/orders", "/keys", "/settings/domains")

Result = tuple[requests.Response, set[int]]


class Hostile:
    """A tenant that attacks the victim at random."""

    def __init__(self, tenant: Tenant, victim: Victim, dice: random.Random) -> None:
        self._me, self._victim, self._dice = tenant, victim, dice

    def act(self) -> Result:
        """Try a random attack; return the answer and the allowed statuses."""
        [deed] = self._dice.choices([*_DEEDS], weights=[*_DEEDS.values()])
        return deed(self)

    def behave(self) -> Result:
        """Send an ordinary request; return the answer and the allowed statuses."""
        if self._dice.random() < 0.2:
            return self._me.see(self._dice.choice(PAGES)), ANY
        return self._me.call("GET", "/pets?limit=20"), ANY

    def read_another_s_rows(self) -> Result:
        path = self._dice.choice(
            [f"/pets/{self._pet()}", f"/store/orders/{self._order()}"]
        )
        return self._me.call("GET", path), REFUSED

    def list_around_them(self) -> Result:
        after = self._dice.choice([*map(str, self._victim.pets), *NASTY])
        query = {"after": after, "limit": self._dice.choice(["1", "100", *NASTY])}
        path = f"/{self._dice.choice(LISTS)}"
        return self._me.call("GET", path, params=query), ANY

    def order_another_s_animal(self) -> Result:
        body = {"petId": self._pet()}
        return self._me.call("POST", "/store/orders", json=body), REFUSED

    def close_another_s_order(self) -> Result:
        body = {"status": self._dice.choice(["completed", "cancelled"])}
        return self._me.call(
            "PATCH", f"/store/orders/{self._order()}", json=body
        ), REFUSED

    def name_a_category(self) -> Result:
        body = {"name": self._dice.choice(["Mine", None, *NASTY])}
        return self._me.call("PUT", "/categories/1", json=body), ANY

    def add_under_another_s_retry_key(self) -> Result:
        body = {"name": self._dice.choice(["Rex", *NASTY]), "categoryId": 1}
        headers = {"Idempotency-Key": "key-1"}
        return self._me.call("POST", "/pets", json=body, headers=headers), ANY

    def call_another_s_host(self) -> Result:
        headers = {"Host": self._dice.choice([DOMAIN, f"{self._victim.slug}.{BASE}"])}
        return self._me.call("GET", "/pets", headers=headers), REFUSED

    def call_with_half_a_key(self) -> Result:
        key = self._dice.choice(self._victim.prefixes) + self._me.key[16:]
        headers = {"Authorization": f"Bearer {key}"}
        return self._me.call("GET", "/pets", headers=headers), REFUSED

    def open_another_s_key(self) -> Result:
        return self._me.see(f"/keys/{self._prefix()}"), REFUSED

    def end_another_s_key(self) -> Result:
        path = f"/keys/{self._prefix()}/{self._dice.choice(KEY_FORMS)}"
        return self._me.send(path, grace="0"), REFUSED

    def open_another_s_domain(self) -> Result:
        return self._me.see(f"/settings/domains/{self._victim.domain}"), REFUSED

    def change_another_s_domain(self) -> Result:
        form = self._dice.choice(DOMAIN_FORMS)
        return self._me.send(f"/settings/domains/{self._victim.domain}/{form}"), REFUSED

    def claim_the_domain(self) -> Result:
        added = self._me.send("/settings/domains", name=DOMAIN)
        place = added.headers.get("Location", "").removeprefix("/dashboard")
        if not place.startswith("/settings/domains/"):
            return added, ANY
        form = self._dice.choice(DOMAIN_FORMS)
        return self._me.send(f"{place}/{form}"), ANY

    def look_at_lists(self) -> Result:
        name = self._dice.choice(["after", "limit", "status", "endpoint", "_method"])
        value = self._dice.choice([*map(str, self._victim.pets), *NASTY])
        return self._me.see(self._dice.choice(PAGES), params={name: value}), ANY

    def look_at_another_s_host(self) -> Result:
        host, path = f"{self._victim.slug}.{BASE}", self._dice.choice(PAGES)
        return self._me.see_with(self._me.cookie, path, host), REFUSED

    def bend_the_cookie(self) -> Result:
        place = self._dice.randrange(1 + len(self._me.cookie))
        bent = self._me.cookie[:place] + "x" + self._me.cookie[place + 1 :]
        return self._me.see_with(bent, self._dice.choice(PAGES)), ANY

    def issue_keys(self) -> Result:
        label, days = (self._dice.choice(["", "1", *NASTY]) for _ in range(2))
        return self._me.send("/keys", label=label, days=days), ANY

    def sign_in_anew(self) -> Result:
        return self._me.sign_in(), ANY

    def _pet(self) -> int:
        return self._dice.choice(self._victim.pets)

    def _order(self) -> int:
        return self._dice.choice(self._victim.orders)

    def _prefix(self) -> str:
        return self._dice.choice(self._victim.prefixes)


# Each attack, with its relative frequency.
_DEEDS: dict[Callable[[Hostile], Result], int] = {
    Hostile.read_another_s_rows: 6,
    Hostile.list_around_them: 6,
    Hostile.order_another_s_animal: 6,
    Hostile.close_another_s_order: 6,
    Hostile.name_a_category: 3,
    Hostile.add_under_another_s_retry_key: 3,
    Hostile.call_another_s_host: 3,
    Hostile.call_with_half_a_key: 1,
    Hostile.open_another_s_key: 2,
    Hostile.end_another_s_key: 2,
    Hostile.open_another_s_domain: 2,
    Hostile.change_another_s_domain: 2,
    Hostile.claim_the_domain: 2,
    Hostile.look_at_lists: 2,
    Hostile.look_at_another_s_host: 1,
    Hostile.bend_the_cookie: 1,
    Hostile.issue_keys: 1,
    Hostile.sign_in_anew: 2,
}
