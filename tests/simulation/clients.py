"""Clients: those who use the service, those who read, and those who mean it ill."""

import json
from typing import Any
from urllib.parse import urlencode

from petstore.models.credentials import PREFIX_LENGTH
from tests.simulation.history import Entry, History, Reader
from tests.simulation.network import End, Link, Network
from tests.simulation.plan import CATEGORIES, Client, Deed
from tests.simulation.world import World

PATIENCE_SECONDS = 30.0
LONG_NAME = 190  # characters of four bytes, so that a page exceeds all buffers
MOST_REFUSALS = 80  # until a key is banned
BAN_SECONDS = 300 + 60  # until it is served again, even if the clock steps
RETRIED = (0, 409, 429, 503)
# Tricks after which the service closes the connection.
HELD = ("half a head", "drip", "garbage", "unfinished body")


class Visitor:
    """A client with at most one connection."""

    def __init__(
        self, world: World, network: Network, history: History, plan: Client
    ) -> None:
        self.world, self.network, self.history = world, network, history
        self.plan = plan
        self.dice = world.dice(plan.name)
        self.tenant = history.tenants[plan.tenant]
        self.address = f"10.1.{self.dice.randrange(256)}.{self.dice.randrange(256)}"
        self.link = Link(plan.latency, 0.2, plan.window)
        self.end: End | None = None
        self.requests = 0  # on this connection
        self.unread = b""

    async def run(self) -> None:
        """Do all deeds, and leave."""
        await self.world.sleep(self.plan.start)
        for number, deed in enumerate(self.plan.deeds):
            await self.world.sleep(deed.pause)
            await self.do(number, deed)
        self.leave()

    async def do(self, number: int, deed: Deed) -> None:
        """Do one deed."""
        raise NotImplementedError

    def leave(self) -> None:
        """Close the connection."""
        if self.end:
            self.end.finish()
        self.end, self.requests, self.unread = None, 0, b""

    async def connect(self) -> End:
        """Return the connection; make one if there is none."""
        if self.end is None or self.end.is_reset or self.end.incoming.has_ended:
            self.leave()
            self.end = await self.network.connect(
                self.plan.name, self.address, self.link
            )
        return self.end

    async def send(
        self,
        operation: str,
        method: str,
        path: str,
        way: str = "whole",
        *,
        key: int | None = None,
        bearer: str | None = None,
        headers: dict[str, str] | None = None,
        body: Any = None,
        form: dict[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Send a request and read the response; note both.

        It carries the key with that number, unless there is another `bearer`.
        """
        if way in ("new", "leave", "half_close"):
            self.leave()
        number = self.plan.key if key is None else key
        entry = Entry(self.plan.name, self.plan.tenant, number, operation, method, path)
        entry.body, entry.idempotency_key = body, idempotency_key
        self.history.entries.append(entry)
        bearer = self.tenant.keys[number] if bearer is None else bearer
        request = _bytes_of(entry, bearer, headers or {}, form)
        end = await self.connect()
        entry.is_reused = self.requests > 0
        self.requests += 1
        entry.sent_at = self.world.now
        await self._write(end, request, way)
        if way == "leave":
            await self.world.sleep(self.dice.uniform(0, 0.05))
            entry.reason = "left"
            if self.dice.random() < 0.5:
                end.reset()
            self.leave()
        else:
            await self._read(end, entry)
        entry.ended_at = self.world.now
        self.world.note(self.plan.name, f"{method} {path} {way} {entry}")
        return entry

    async def _write(self, end: End, request: bytes, way: str) -> None:
        pieces = {"pieces": 3, "drip": 12}.get(way, 1)
        size = -(-len(request) // pieces)
        for start in range(0, len(request), size):
            if start:
                await self.world.sleep(self.dice.uniform(0, 0.4))
            await end.send(request[start : start + size])
        if way == "half_close":
            self.world.counts["half-closes"] += 1
            end.finish()

    async def _read(self, end: End, entry: Entry) -> None:
        until = self.world.now + PATIENCE_SECONDS
        received, self.unread = self.unread, b""
        size = None
        while size is None or len(received) < size:
            some = await end.receive(until - self.world.now)
            if not some:
                timed_out = self.world.now >= until
                entry.reason = "timeout" if timed_out else "closed"
                if end.is_reset:
                    entry.reason = "reset"
                self.leave()
                return
            received += some
            if size is None and b"\r\n\r\n" in received:
                size = self._parse_head(entry, received)
            if self.plan.window < 10_000:
                await self.world.sleep(0.002)
        content, self.unread = received[:size], received[size:]
        entry.status = int(content[9:12])
        arrived_at = max(end.outgoing.arrived_at, end.accepted_at)
        entry.waited = max(0.0, end.answered_at - arrived_at)
        body = content.partition(b"\r\n\r\n")[2]
        if "json" in entry.headers.get("content-type", "") and body:
            entry.json = json.loads(body)
        elif body:
            entry.json = body
        if entry.headers["connection"] == "close":
            self.leave()

    def _parse_head(self, entry: Entry, received: bytes) -> int:
        """Fill in the headers; return how long the response is."""
        head, _, _ = received.partition(b"\r\n\r\n")
        for line in head.decode("latin-1").split("\r\n")[1:]:
            name, _, value = line.partition(": ")
            entry.headers[name.lower()] = value
        has_body = entry.method != "HEAD"
        length = int(entry.headers.get("content-length", "0")) if has_body else 0
        return len(head) + 4 + length


class ApiClient(Visitor):
    """A client of the API."""

    async def do(self, number: int, deed: Deed) -> None:
        """Do one deed, and again until it is answered, if it may be tried again."""
        await getattr(self, deed.what)(number, deed)

    async def add(self, number: int, deed: Deed) -> None:
        entry = await self._try(
            "createPet", "POST", "/v1/pets", deed, self._pet(number, deed)
        )
        self._learn(entry, self.tenant.pets)

    async def add_again(self, number: int, deed: Deed) -> None:
        """Use an Idempotency-Key again, for another body."""
        await self.add(number, deed)
        other = self._pet(number, deed) | {"categoryId": 9}
        await self._try("reuse", "POST", "/v1/pets", deed, other)

    async def order(self, number: int, deed: Deed) -> None:
        if not self.tenant.pets:
            await self.add(number, deed)
            return
        # The same key must mean the same animal, whoever adds others meanwhile.
        body: dict[str, Any] = {"petId": self._picked(self.tenant.pets, deed)}
        if deed.choose("has a reference", (True, False)):
            body["reference"] = deed.key or f"{self.plan.name}.{number}"
        entry = await self._try("createOrder", "POST", "/v1/store/orders", deed, body)
        self._learn(entry, self.tenant.orders)

    async def complete(self, number: int, deed: Deed) -> None:
        await self._close(number, deed, "completed")

    async def cancel(self, number: int, deed: Deed) -> None:
        await self._close(number, deed, "cancelled")

    async def _close(self, number: int, deed: Deed, status: str) -> None:
        if not self.tenant.orders:
            await self.order(number, deed)
            return
        path = f"/v1/store/orders/{self._picked(self.tenant.orders, deed)}"
        await self._try("updateOrder", "PATCH", path, deed, {"status": status})

    async def list_pets(self, _number: int, deed: Deed) -> None:
        among = {
            "limit": (None, 1, 2, 5, 20, 100),
            "status": (None, None, "available", "pending", "sold"),
            "categoryId": (None, None, *CATEGORIES),
            "after": (None, *self.tenant.pets[-8:]),
        }
        chosen = {name: deed.choose(name, values) for name, values in among.items()}
        given = {name: value for name, value in chosen.items() if value is not None}
        await self.send("listPets", "GET", f"/v1/pets?{urlencode(given)}", deed.way)

    async def list_orders(self, _number: int, deed: Deed) -> None:
        await self.send("listOrders", "GET", "/v1/store/orders?limit=100", deed.way)

    async def correct(self, number: int, deed: Deed) -> None:
        path = f"/v1/pets/{self._picked(self.tenant.pets, deed)}"
        name = f"{self.plan.name}.{number} corrected"
        body: dict[str, Any] = {"name": _perhaps_long(name, deed)}
        if deed.choose("has a category", (True, False)):
            body["categoryId"] = deed.choose("categoryId", CATEGORIES)
        await self._try("updatePet", "PATCH", path, deed, body)

    async def withdraw(self, _number: int, deed: Deed) -> None:
        path = f"/v1/pets/{self._picked(self.tenant.pets, deed)}"
        await self.send("deletePet", "DELETE", path, deed.way)

    async def get(self, _number: int, deed: Deed) -> None:
        path = f"/v1/pets/{self._picked(self.tenant.pets, deed)}"
        method = deed.choose("method", ("GET", "GET", "GET", "HEAD"))
        await self.send("getPet", method, path, deed.way)

    async def get_order(self, _number: int, deed: Deed) -> None:
        path = f"/v1/store/orders/{self._picked(self.tenant.orders, deed)}"
        await self.send("getOrder", "GET", path, deed.way)

    async def name_category(self, number: int, deed: Deed) -> None:
        body = {"name": f"{self.plan.name}.{number}"}
        path = f"/v1/categories/{deed.choose('categoryId', CATEGORIES)}"
        await self.send("putCategory", "PUT", path, deed.way, body=body)

    async def list_categories(self, _number: int, deed: Deed) -> None:
        await self.send("listCategories", "GET", "/v1/categories", deed.way)

    async def invalid(self, _number: int, deed: Deed) -> None:
        await self.send("invalid", "POST", "/v1/pets", deed.way, body={"name": ""})

    async def stranger(self, _number: int, deed: Deed) -> None:
        await self.send("stranger", "GET", "/v1/pets", deed.way, bearer="")

    async def elsewhere(self, _number: int, deed: Deed) -> None:
        """Ask for what another project has."""
        names = [name for name in self.history.tenants if name != self.tenant.name]
        other = self.history.tenants[deed.choose("tenant", names)]
        if other.pets:
            path = f"/v1/pets/{self._picked(other.pets, deed)}"
            await self.send("elsewhere", "GET", path, deed.way)

    async def options(self, _number: int, deed: Deed) -> None:
        await self.send("options", "OPTIONS", "/v1/pets", deed.way, bearer="")

    def _pet(self, number: int, deed: Deed) -> dict[str, Any]:
        name = deed.key or f"{self.plan.name}.{number}"
        return {
            "name": _perhaps_long(name, deed),
            "categoryId": deed.choose("categoryId", CATEGORIES),
        }

    def _picked(self, ids: list[int], deed: Deed) -> int:
        return deed.choose("id", ids) if ids else 1

    def _learn(self, entry: Entry, ids: list[int]) -> None:
        if entry.status == 201 and not entry.is_replay:
            ids.append(entry.json["id"])

    async def _try(
        self, operation: str, method: str, path: str, deed: Deed, body: Any
    ) -> Entry:
        for attempt in range(deed.tries):
            if attempt:
                await self.world.sleep(self.dice.uniform(0.1, 1.5))
            entry = await self.send(
                operation, method, path, deed.way, body=body, idempotency_key=deed.key
            )
            if entry.status not in RETRIED:
                break
        if entry.is_carried_out and deed.key and deed.choose("again", (True, False)):
            # As if the answer were lost on its way.
            await self.world.sleep(self.dice.uniform(0, 1))
            await self.send(
                operation, method, path, deed.way, body=body, idempotency_key=deed.key
            )
        return entry


class PageReader(Visitor):
    """A client that reads on from the last animal it has seen."""

    async def run(self) -> None:
        self.found = Reader(self.plan.tenant, 0, set())
        self.history.readers.append(self.found)
        await super().run()

    async def do(self, _number: int, deed: Deed) -> None:
        path = f"/v1/pets?limit={deed.pick}&after={self.found.last}"
        entry = await self.send("listPets", "GET", path)
        if entry.status == 200:
            ids = [pet["id"] for pet in entry.json]
            self.found.seen |= set(ids)
            self.found.last = max([self.found.last, *ids])


class Member(Visitor):
    """Somebody with a session on the dashboard, and the key that it names."""

    async def run(self) -> None:
        await self.world.sleep(self.plan.start)
        [deed] = self.plan.deeds
        for _ in range(3):
            if cookie := await self._sign_in(self.plan.key):
                await getattr(self, f"_{deed.what.replace(' ', '_')}")(cookie)
                break
            await self.world.sleep(5)
        self.leave()

    async def _sign_in(self, key: int) -> dict[str, str]:
        """Begin a session; return its cookie, nothing if that has failed."""
        form = {"key": self.tenant.keys[key]}
        entered = await self._open("/dashboard/sign-in", {}, form)
        return _cookie(entered) if entered.status == 303 else {}

    async def _open(
        self,
        path: str,
        headers: dict[str, str],
        form: dict[str, str] | None = None,
        operation: str = "page",
    ) -> Entry:
        method = "GET" if form is None else "POST"
        return await self.send(
            operation, method, path, headers=headers, form=form, bearer=""
        )

    async def _revoke(self, cookie: dict[str, str]) -> None:
        """Revoke the key of this session."""
        key = self.plan.key
        self.tenant.ends_from.setdefault(key, self.world.now)
        revoked = await self._submit_for_key(key, "revoke", cookie)
        if revoked.status == 303:
            self.tenant.revoked_at[key] = self.world.now
            await self._open("/dashboard", cookie, operation="ended page")
            await self._list_pets()

    async def _be_banned(self, cookie: dict[str, str]) -> None:
        """Go on after refusals, and wait until the key is served again."""
        for _ in range(MOST_REFUSALS):
            refused = await self._list_pets()
            if refused.status == 429:
                if refused.json["code"] == "api_key_banned":
                    break
                await self.world.sleep(1.1)
        else:
            return
        self.world.counts["bans"] += 1
        await self._open("/dashboard", cookie, operation="open page")
        await self.world.sleep(self.dice.uniform(0, 200))
        refused = await self._list_pets("banned")
        if self.plan.deeds[0].pick % 2:
            await self._submit_for_key(self.plan.key, "unban", cookie)
            await self.world.sleep(60)
            refused = await self._list_pets("freed")
        for _ in range(3):  # the clock may step meanwhile
            seconds = int(refused.headers.get("retry-after", "0"))
            await self.world.sleep(min(seconds, BAN_SECONDS))
            refused = await self._list_pets()
        refused.operation = "freed"

    async def _list_pets(self, operation: str = "listPets", **more: Any) -> Entry:
        return await self.send(operation, "GET", "/v1/pets", **more)

    async def _submit_for_key(
        self, key: int, how: str, cookie: dict[str, str], **fields: str
    ) -> Entry:
        path = f"/keys/{self.tenant.keys[key][:PREFIX_LENGTH]}"
        return await self._submit(f"{path}/{how}", cookie, page=path, **fields)

    async def _submit(
        self, path: str, cookie: dict[str, str], page: str = "", **fields: str
    ) -> Entry:
        """Send a form of a page; the page itself if it does not open."""
        shown = await self._open(f"/dashboard{page}", cookie)
        if shown.status != 200:
            return shown
        return await self._open(f"/dashboard{path}", cookie, fields)


def _bytes_of(
    entry: Entry, bearer: str, headers: dict[str, str], form: dict[str, str] | None
) -> bytes:
    head, content, kind = {"Host": "petstore", **headers}, "", "application/json"
    if bearer:
        head["Authorization"] = f"Bearer {bearer}"
    if entry.idempotency_key:
        head["Idempotency-Key"] = entry.idempotency_key
    if entry.body is not None:
        content = json.dumps(entry.body)
    if form is not None:
        content, kind = urlencode(form), "application/x-www-form-urlencoded"
    if content:
        head |= {"Content-Type": kind, "Content-Length": str(len(content))}
    lines = (f"{name}: {value}" for name, value in head.items())
    request_line = f"{entry.method} {entry.path} HTTP/1.1"
    return "\r\n".join((request_line, *lines, "", content)).encode()


def _perhaps_long(name: str, deed: Deed) -> str:
    is_long = deed.choose("has a long name", (True, False, False))
    return f"{name}{'🐕' * LONG_NAME}"[:200] if is_long else name


def _cookie(entry: Entry) -> dict[str, str]:
    value = entry.headers.get("set-cookie", "").partition(";")[0]
    return {"Cookie": value} if value else {}


class Hostile(Visitor):
    """Somebody who sends what nobody should, and takes more than anybody should."""

    async def do(self, _number: int, deed: Deed) -> None:
        end = await self.connect()
        began_at = self.world.now
        trick = getattr(self, f"_{deed.what.replace(' ', '_')}")
        await trick(end)
        if deed.what in HELD:
            while await end.receive(120):
                pass
            began_at = max(began_at, end.accepted_at)
            self.history.held.append(
                (f"{self.plan.name}: {deed.what}", began_at, self.world.now)
            )
        self.world.note(self.plan.name, deed.what)
        self.leave()

    async def _half_a_head(self, end: End) -> None:
        await end.send(b"GET /v1/pets HTTP/1.1\r\nHost: ")

    async def _drip(self, end: End) -> None:
        for byte in b"GET /v1/pets HTTP/1.1\r\nHost: petstore\r\n" * 2:
            await self.world.sleep(0.7)
            if end.is_reset or end.incoming.has_ended:
                return
            await end.send(bytes([byte]))

    async def _garbage(self, end: End) -> None:
        await end.send(self.dice.randbytes(self.dice.randint(1, 3000)) + b"\r\n\r\n")

    async def _two_at_once(self, end: End) -> None:
        await end.send(b"GET /healthz HTTP/1.1\r\nHost: petstore\r\n\r\n" * 2)

    async def _unfinished_body(self, end: End) -> None:
        head = (
            b"POST /v1/pets HTTP/1.1\r\nHost: petstore\r\nContent-Length: 5000\r\n\r\n"
        )
        await end.send(head + b"{" * 2000)

    async def _cut(self, end: End) -> None:
        await end.send(b"GET /v1/pets HTTP/1.1\r\nHost: petstore\r\n\r\n")
        await self.world.sleep(self.dice.uniform(0, 0.01))
        end.reset()

    async def _no_reading(self, end: End) -> None:
        """Ask for the longest answers, and read none for a while."""
        key = self.tenant.keys[self.plan.key]
        path, host = "/v1/pets?limit=100", "Host: petstore\r\n"
        head = f"GET {path} HTTP/1.1\r\n{host}Authorization: Bearer {key}\r\n\r\n"
        await end.send(head.encode())
        await self.world.sleep(self.dice.uniform(1, 40))


KINDS = {
    "api": ApiClient,
    "reader": PageReader,
    "member": Member,
    "hostile": Hostile,
}
