"""Clients of the API and of the dashboard, readers, and hostile ones."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from tests.harness.form_keys import form_key
from tests.together.simulation.history import Entry, History
from tests.together.simulation.network import End, Link, Network
from tests.together.simulation.plan import ACTS, Client, Deed
from tests.together.simulation.world import World

PATIENCE_SECONDS = 30.0
LONG_NAME = 190  # characters of four bytes, so that a page exceeds all buffers
PETS = "/v1/pets"
UNKNOWN_ID = 10**12
LAST_CHUNK = b"\r\n0\r\n\r\n"
PLAIN = Deed("")
REQUESTS, SUBMITTED = ACTS["requests"], ACTS["submitted"]
ENDINGS = {"complete": "completed", "cancel": "cancelled"}
LEARNT = {"createPet": "pets", "createOrder": "orders"}
# What a form stands for.
DONE = {"createPet": 201, "createOrder": 201, "updatePet": 200, "updateOrder": 200}
DONE |= {"deletePet": 204, "deleteOrder": 204, "deleteNewPet": 204, "reopenOrder": 200}
HEADERS = {"X-Forwarded-For": "forwarded", "Origin": "origin"}
RETRIED = (0, 409, 429, 503)
TRICKS = {
    "half a head": b"GET /v1/pets HTTP/1.1\r\nHost: ",
    "drip": b"GET /v1/pets HTTP/1.1\r\nHost: petstore\r\n" * 2,
    "two at once": b"GET /healthz HTTP/1.1\r\nHost: petstore\r\n\r\n" * 2,
    "unfinished body": b"POST /v1/pets HTTP/1.1\r\nHost: petstore\r\n"
    b"Content-Length: 5000\r\n\r\n" + b"{" * 2000,
    "cut": b"GET /v1/pets HTTP/1.1\r\nHost: petstore\r\n\r\n",
}
# After these the service closes the connection.
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
        host, net = self.dice.randrange(1, 65_536), 1 + (plan.kind == "hostile")
        self.address = f"10.{net}.{host // 256}.{host % 256}"
        if self.dice.random() < 0.3:
            self.address = f"2001:db8:{net}:{host:x}::1"
        self.link = Link(plan.latency, 0.2, plan.window)
        self.end: End | None = None
        self.requests = 0  # on this connection

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
        self.end, self.requests = None, 0

    async def connect(self) -> End:
        """Return the connection; make one if there is none."""
        if self.end is None or self.end.is_reset or self.end.incoming.has_ended:
            self.leave()
            who = self.plan.name, self.address
            self.end = await self.network.connect(*who, self.link)
        return self.end

    async def send(
        self,
        operation: str,
        method: str,
        path: str,
        deed: Deed = PLAIN,
        *,
        bearer: str | None = None,
        headers: dict[str, str] | None = None,
        body: Any = None,
        form: dict[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Send a request and read the response; note both.

        It carries the key of the client, unless there is another `bearer`.
        """
        way, headers = deed["way"] or "whole", {**(headers or {})}
        headers |= {x: deed[y] for x, y in HEADERS.items() if deed[y]}
        if way in ("new", "leave", "half_close"):
            self.leave()
        tenant, key = self.plan.tenant, self.plan.key
        entry = Entry(self.plan.name, tenant, key, operation, method, path)
        entry.body, entry.idempotency_key = body, idempotency_key
        entry.network, entry.origin = self._network(headers), deed["origin"]
        self.history.entries.append(entry)
        bearer = self.tenant.keys[key] if bearer is None else bearer
        request = _bytes_of(entry, bearer, headers, form)
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
        self.world.note(
            self.plan.name, f"{method} {path} {way} {entry} {entry.figures}"
        )
        return entry

    def _network(self, headers: dict[str, str]) -> str:
        """Return the network of the client: strangers in one share a quota."""
        address = self.address
        if self.history.proxies:
            address = headers.get("X-Forwarded-For", address).split(", ")[-1]
        return address.rpartition(":")[0] or address  # a /64 in these plans

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
        received, size = b"", None
        while size is None or len(received) < size:
            some = await end.receive(until - self.world.now)
            if not some:
                entry.reason = "timeout" if self.world.now >= until else "closed"
                self.leave()
                return
            received += some
            if size is None and b"\r\n\r\n" in received:
                size = self._parse_head(entry, received)
            if self.plan.window < 10_000:
                await self.world.sleep(0.002)
        content = received[:size]
        entry.status = int(content[9:12])
        arrived_at = max(end.outgoing.arrived_at, end.accepted_at)
        entry.waited = max(0.0, end.answered_at - arrived_at)
        body = content.partition(b"\r\n\r\n")[2]
        if "transfer-encoding" in entry.headers:
            body = b"".join(_chunks(body))
        if "json" in entry.headers.get("content-type", "") and body:
            entry.json = json.loads(body)
        elif body:
            entry.json = body
        if entry.headers["connection"] == "close":
            self.leave()

    def _parse_head(self, entry: Entry, received: bytes) -> int | None:
        """Fill in the headers; return how long the response is, if it is known."""
        head, _, _ = received.partition(b"\r\n\r\n")
        for line in head.decode("latin-1").split("\r\n")[1:]:
            name, _, value = line.partition(": ")
            entry.headers[name.lower()] = value
        if "transfer-encoding" in entry.headers:
            end = received.find(LAST_CHUNK)
            return None if end < 0 else end + len(LAST_CHUNK)
        has_body = entry.method != "HEAD"
        length = int(entry.headers.get("content-length", "0")) if has_body else 0
        return len(head) + 4 + length


class ApiClient(Visitor):
    """A client of the API."""

    async def do(self, number: int, deed: Deed) -> None:
        """Send a request, and again until it is answered, if it may be tried again."""
        self.begin(number, deed)
        operation, method, path, names = REQUESTS[deed.what]
        ids = {kind: self._id(kind, deed[kind]) for kind in ("pet", "order")}
        path = path.format(**ids, category=deed["category"] or 0, path=deed["path"])
        members = self._members(names.split(), path.rpartition("/")[2])
        body = None
        if method in ("POST", "PATCH", "PUT"):
            needed = {"createPet": {"name": self.text, "categoryId": 0}}
            needed["putCategory"] = {"name": None}
            body = needed.get(operation, {}) | members
        elif members:
            path = f"{path}?{urlencode(members)}"
        if method == "PATCH" and not body:
            operation = "invalid"
        entry = await self._try(operation, deed["method"] or method, path, body)
        if entry.status == 201 and not entry.is_replay and operation in LEARNT:
            getattr(self.tenant, LEARNT[operation]).append(entry.json["id"])
        if deed["reuse"]:
            await self._try(operation, method, path, body | {"categoryId": 9})

    def begin(self, number: int, deed: Deed) -> None:
        """Remember the deed for the other methods."""
        self.deed, self.text = deed, deed["same"] or f"{self.plan.name}.{number}"

    def _members(self, names: list[str], kind: str) -> dict[str, Any]:
        """Return the members that the query or body is sent with."""
        deed = self.deed
        values = {
            "name": self._text("name"),
            "reference": self._text("reference"),
            "categoryId": deed["category"],
            "status": deed["status"] or deed["closing"],
            "petId": self._id("pet", deed["pet"]),
            "limit": deed["limit"],
            "after": deed["after"] and self._id(kind.rstrip("s"), deed["after"]),
        }
        return {name: values[name] for name in names if values[name] is not None}

    def _text(self, parameter: str) -> str | None:
        """Return a text that no other deed has, or none."""
        form = self.deed[parameter]
        return form and f"{self.text}{'🐕' * LONG_NAME * (form == 'long')}"[:200]

    def _id(self, kind: str, which: str | None) -> int:
        """Return the id of a row, such as a recent one."""
        tenant = self.tenant
        if which == "foreign":
            names = [name for name in self.history.tenants if name != tenant.name]
            tenant = self.history.tenants[self.deed.choose("tenant", names)]
        ids = {"pet": tenant.pets, "order": tenant.orders}.get(kind, [*range(5)])
        if which == "unknown" or not ids:
            return UNKNOWN_ID
        among = {"recent": ids[-3:], "first": ids[:1]}.get(which or "any", ids)
        return self.deed.choose("id", among)

    async def _try(self, operation: str, method: str, path: str, body: Any) -> Entry:
        """Send a request until it is answered, and perhaps again."""
        may_have_key = method in ("POST", "PATCH") and self.deed["has_key"]
        key = self.text if may_have_key else None
        bearer = "" if operation in ("stranger", "options") else None
        more = {"body": body, "idempotency_key": key, "bearer": bearer}
        for attempt in range(self.deed["tries"] if key else 1):
            if attempt:
                await self.world.sleep(self.dice.uniform(0.1, 1.5))
            entry = await self.send(operation, method, path, self.deed, **more)
            if entry.status not in RETRIED:
                break
        if entry.is_carried_out and key and self.deed["again"]:
            # As if the answer were lost on its way.
            await self.world.sleep(self.dice.uniform(0, 1))
            await self.send(operation, method, path, self.deed, **more)
        return entry


class PageReader(Visitor):
    """A client that reads on from the last animal it has seen."""

    last = 0

    async def do(self, _number: int, deed: Deed) -> None:
        path = f"{PETS}?limit={deed.pick}&after={self.last}"
        entry = await self.send("listPets", "GET", path)
        if entry.status == 200 and entry.json:
            self.last = entry.json[-1]["id"]


class Clerk(ApiClient):
    """Somebody with a session on the dashboard, who does there what the API does."""

    cookie: dict[str, str] | None = None
    signed_in_at: float | None = None

    async def do(self, number: int, deed: Deed) -> None:
        """Do one deed, if there is a session or one begins."""
        if not self.cookie:
            await self._sign_in()
        if self.cookie:
            self.begin(number, deed)
            self.key = f"{self.plan.name}.{number}"
            if deed.what in SUBMITTED:
                await self._submit()
            else:
                await self._open(deed["page"])

    async def _sign_in(self) -> None:
        form = {"key": self.tenant.keys[self.plan.key]}
        entered = await self._open("/sign-in", form)
        value = entered.headers.get("set-cookie", "").partition(";")[0]
        if entered.status == 303 and value:
            self.cookie, self.signed_in_at = {"Cookie": value}, entered.ended_at

    async def _open(self, path: str, form: dict[str, str] | None = None) -> Entry:
        method, path = "GET" if form is None else "POST", f"/dashboard{path}"
        deed = self.deed if self.cookie else PLAIN
        entry = await self.send(
            "page", method, path, deed, headers=self.cookie, form=form, bearer=""
        )
        entry.signed_in_at = self.signed_in_at
        # Some sign in again, and some come back with the cookie that they have.
        if entry.leads_to_sign_in and self.dice.random() < 0.5:
            self.cookie = self.signed_in_at = None
        return entry

    async def _submit(self) -> None:
        """Send a form, and note it as the operation that does the same."""
        what, body = self.deed.what, {}
        operation, path, page, done, names = SUBMITTED[what]
        ids = {kind: self._id(kind, self.deed[kind]) for kind in ("pet", "order")}
        if operation == "createPet":
            body = {"name": self.text, "categoryId": 0}
        elif what in ENDINGS:
            body = {"status": ENDINGS[what]}
        body |= self._members(names.split(), "")
        form = {name: str(body[name]) for name in body if name != "petId"}
        cookie = self.cookie["Cookie"].partition("=")[2]
        form["idempotency_key"] = form_key(cookie, self.key)
        sent = await self._open(page.format(**ids), form)
        leads_to = sent.headers.get("location") if sent.status == 303 else None
        is_done = leads_to == f"/dashboard{done.format(**ids)}"
        if is_done or sent.status in (0, 503):
            same = replace(sent, operation=operation, path=path.format(**ids))
            same.body, same.is_form, same.headers = body, True, {}
            same.status, same.reason = DONE[operation] * is_done, "left"
            self.history.entries.append(same)
        if is_done and self.dice.random() < 0.3:
            await self._open(page.format(**ids), form)  # again, which does nothing


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
    if content or form is not None:
        head |= {"Content-Type": kind, "Content-Length": str(len(content))}
    lines = (f"{name}: {value}" for name, value in head.items())
    request_line = f"{entry.method} {entry.path} HTTP/1.1"
    return "\r\n".join((request_line, *lines, "", content)).encode()


def _chunks(body: bytes) -> Iterator[bytes]:
    while body:
        size, _, body = body.partition(b"\r\n")
        yield body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]


class Hostile(Visitor):
    """A client that sends malformed requests, and holds its connections."""

    async def do(self, _number: int, deed: Deed) -> None:
        end, began_at = await self.connect(), self.world.now
        content = TRICKS.get(deed.what) or self._other(deed.what)
        size = 1 if deed.what == "drip" else len(content)
        for start in range(0, len(content), size):
            if not (end.is_reset or end.incoming.has_ended):
                await end.send(content[start : start + size])
                await self.world.sleep(0.7 * (deed.what == "drip"))
        if deed.what == "cut":
            await self.world.sleep(self.dice.uniform(0, 0.01))
            end.reset()
        elif deed.what == "no reading":
            await self.world.sleep(self.dice.uniform(1, 40))
        elif deed.what in HELD:
            while await end.receive(120):
                pass
            began_at = max(began_at, end.accepted_at)
            held = f"{self.plan.name}: {deed.what}", began_at, self.world.now
            self.history.held.append(held)
        self.world.note(self.plan.name, deed.what)
        self.leave()

    def _other(self, what: str) -> bytes:
        if what == "garbage":
            return self.dice.randbytes(self.dice.randint(1, 3000)) + b"\r\n\r\n"
        # The longest answer, which is not read.
        tenant, key = self.plan.tenant, self.plan.key
        entry = Entry("hostile", tenant, key, what, "GET", f"{PETS}?limit=100")
        entry.sent_at, entry.reason = self.world.now, "left"
        self.history.entries.append(entry)
        return _bytes_of(entry, self.tenant.keys[key], {}, None)


KINDS = {
    "api": ApiClient,
    "reader": PageReader,
    "clerk": Clerk,
    "hostile": Hostile,
}
