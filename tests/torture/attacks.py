"""Random attacks on a project by a tenant with a valid key and a session."""

import random
from collections.abc import Callable

import requests

from tests.torture.tenants import BASE, DOMAIN, Tenant, Victim

# Another project's rows look missing; the form or the number may also be invalid.
REFUSED = {303, 400, 401, 404, 409, 415, 421, 422, 429}
ANY = REFUSED | {200, 201, 204, 301}
NASTY = ("", "0", "-1", "x", "'; DROP TABLE pet; --", "\x00", "é" * 99, "9" * 30)
LISTS = ("pets", "store/orders", "categories")
PAGES = ("", "/animals", "/orders", "/keys", "/settings/domains")
PARAMETERS = ("after", "limit", "status", "endpoint", "_method")

Attack = Callable[[], requests.Response]


class Attacker:
    """A tenant that attacks the victim at random."""

    def __init__(self, tenant: Tenant, victim: Victim, dice: random.Random) -> None:
        self._me, self._victim, self._dice = tenant, victim, dice

    def attack(self) -> tuple[requests.Response, set[int]]:
        """Try a random attack; return the answer and the allowed statuses."""
        groups = ((self._on_rows(), REFUSED), (self._on_pages(), REFUSED))
        groups += ((self._with_own_key(), ANY), (self._with_own_session(), ANY))
        attacks, allowed = self._dice.choice(groups)
        return self._go_on(self._dice.choice(attacks)()), allowed

    def behave(self) -> tuple[requests.Response, set[int]]:
        """Send an ordinary request; return the answer and the allowed statuses."""
        if self._dice.random() < 0.2:
            return self._go_on(self._me.see(self._dice.choice(PAGES))), ANY
        return self._me.call("GET", "/pets?limit=20"), ANY

    def _go_on(self, answer: requests.Response) -> requests.Response:
        """Be another project from now on if this one has used up its pages."""
        if answer.status_code == 429:
            self._me.begin()
        return answer

    def _on_rows(self) -> list[Attack]:
        """Return requests of the API for what is the victim's."""
        call, choice, victim = self._me.call, self._dice.choice, self._victim
        pet, order = choice(victim.pets), f"/store/orders/{choice(victim.orders)}"
        closed = {"status": choice(["completed", "cancelled"])}
        host = {"Host": choice([DOMAIN, f"{victim.slug}.{BASE}"])}
        half_a_key = choice(victim.prefixes) + self._me.key[16:]
        bearer = {"Authorization": f"Bearer {half_a_key}"}
        return [
            lambda: call("GET", f"/pets/{pet}"),
            lambda: call("GET", order),
            lambda: call("POST", "/store/orders", json={"petId": pet}),
            lambda: call("PATCH", order, json=closed),
            lambda: call("GET", "/pets", headers=host),
            lambda: call("GET", "/pets", headers=bearer),
        ]

    def _on_pages(self) -> list[Attack]:
        """Return requests of the dashboard for what is the victim's."""
        me, choice, victim = self._me, self._dice.choice, self._victim
        key = f"/keys/{choice(victim.prefixes)}"
        domain = f"/settings/domains/{victim.domain}"
        key_form = choice(["", "/rotate", "/revoke", "/unban"])
        domain_form = choice(["verify", "primary", "remove"])
        host, page = f"{victim.slug}.{BASE}", choice(PAGES)
        return [
            lambda: me.see(key),
            lambda: me.send(f"{key}{key_form}", grace="0", key=me.key),
            lambda: me.see(domain),
            lambda: me.send(f"{domain}/{domain_form}", key=me.key),
            lambda: me.see_with(me.cookie, page, host),
        ]

    def _with_own_key(self) -> list[Attack]:
        """Return requests of the API that are allowed, with odd values."""
        call, odd = self._me.call, self._odd
        query = {"after": odd(), "limit": odd()}
        pet = {"name": odd(), "categoryId": 1}
        # The victim has used this key and named this category.
        retried = {"Idempotency-Key": "key-1"}
        return [
            lambda: call("GET", f"/{self._dice.choice(LISTS)}", params=query),
            lambda: call("PUT", "/categories/1", json={"name": odd()}),
            lambda: call("POST", "/pets", json=pet, headers=retried),
        ]

    def _with_own_session(self) -> list[Attack]:
        """Return requests of the dashboard that are allowed, with odd values."""
        me, odd, page = self._me, self._odd, self._dice.choice(PAGES)
        query = {self._dice.choice(PARAMETERS): odd()}
        place = self._dice.randrange(1 + len(me.cookie))
        altered = me.cookie[:place] + "x" + me.cookie[place + 1 :]
        return [
            lambda: me.see(page, params=query),
            lambda: me.see_with(altered, page),
            lambda: me.send("/keys", label=odd(), days=odd()),
            self._claim_domain,
            me.sign_in,
        ]

    def _claim_domain(self) -> requests.Response:
        added = self._me.send("/settings/domains", name=DOMAIN)
        place = added.headers.get("Location", "").removeprefix("/dashboard")
        if not place.startswith("/settings/domains/"):
            return added
        form = self._dice.choice(["verify", "primary", "remove"])
        return self._me.send(f"{place}/{form}", key=self._me.key)

    def _odd(self) -> str:
        return self._dice.choice([*map(str, self._victim.pets), *NASTY])
