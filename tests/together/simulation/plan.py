"""What happens in a run: clients with their deeds, and faults; all from a seed."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

SECONDS = 20.0  # in which clients begin; they go on as long as it takes
PICKS = 1_000_000
KEYS = 4  # of each tenant, which may do everything
PAGE_KEY = 4  # its key that may do less
PAGE_LIMITS = (6, 60)  # of the key for a web page
TENANTS = ("shelter", "kennel", "rival")
SUSPENDED = "rival"

PAGE_ORIGIN = "https://shelter.example"
# What clients do over the API and in forms, the values of parameters, and what goes
# wrong.
ACTS = yaml.safe_load(Path(__file__).with_name("acts.yaml").read_text())
DEEDS, FORMS, FAULTS = ACTS["deeds"], ACTS["forms"], ACTS["faults"]
VALUES: dict[str, Sequence[Any]] = ACTS["values"]
TRICKS = "half a head,drip,garbage,two at once,no reading,unfinished body,cut"
CONTEST = ("order", "withdraw", "order", "correct")  # of clients for one animal
VOLLEY = {"category": 1, "name": "short"}
FAILING_COMMITS = ("disk full", "disk write error", "disk gone")


@dataclass(frozen=True)
class Deed:
    """What a client does, after a pause."""

    what: str
    pause: float = 0.0
    pick: int = 0  # decides what else there is to choose
    chosen: dict[str, Any] = field(default_factory=dict)  # values of parameters

    def __getitem__(self, parameter: str) -> Any:
        return self.chosen.get(parameter)

    def choose(self, what: str, among: Sequence[Any]) -> Any:
        """Choose at the time of the deed, among what exists then."""
        return random.Random(f"{self.pick} {what}").choice(among)


@dataclass(frozen=True)
class Client:
    """Somebody who sends requests one after the other."""

    name: str
    kind: str  # api, clerk, reader or hostile
    start: float
    deeds: tuple[Deed, ...] = ()
    tenant: str = "shelter"
    key: int = 0
    latency: float = 0.001
    window: int = 65_536


@dataclass(frozen=True)
class Fault:
    """What goes wrong, when and for how long."""

    what: str
    start: float
    seconds: float = 0.0
    pick: int = 0


@dataclass(frozen=True)
class Plan:
    """A run: the same plan has the same trace."""

    seed: int
    clients: tuple[Client, ...]
    faults: tuple[Fault, ...]
    options: dict[str, int] = field(default_factory=dict)


@dataclass
class Outcome:
    """What became of a plan."""

    plan: Plan
    faults: list[str]  # broken promises
    digest: str
    seconds: float  # of virtual time
    requests: int
    counts: dict[str, int]
    notes: list[tuple[float, str, str]] = field(default_factory=list)


def plan_of(seed: int) -> Plan:
    """Return the plan of a seed."""
    dice = random.Random(f"plan {seed}")
    options = {"redis": int(dice.random() < 0.55), "proxies": dice.randrange(2)}
    if dice.random() < 0.15:
        options["connections"] = dice.randint(4, 12)
    if dice.random() < 0.15:
        options["max_requests"] = dice.randint(30, 100)
    if seed % 2:
        options["rows"] = dice.choice((8, 20, 40))
    faults = [_fault(dice, options) for _ in range(dice.choice((0, 2, 3, 4, 5, 7)))]
    clients = [_api_client(dice, number) for number in range(dice.randint(3, 6))]
    clients += [_clerk(dice, number) for number in range(dice.choice((0, 1, 2)))]
    clients += [_reader(dice, number) for number in range(dice.randint(1, 2))]
    clients += [_hostile(dice, number) for number in range(dice.randint(0, 3))]
    for number in range(dice.choice((0, 1, 2, 3))):
        clients += _burst(dice, number, faults)
    if seed % 3 == 0:
        clients.append(_page(random.Random(f"page {seed}")))
    if seed % 4 == 0:
        faults.append(_suspension(random.Random(f"suspension {seed}")))
    clients += _witnesses(random.Random(f"witnesses {seed}"), faults)
    return Plan(seed, tuple(clients), tuple(faults), options)


def _drawn(dice: random.Random, weights: dict[str, int]) -> str:
    return dice.choices(list(weights), list(weights.values()))[0]


def _deed(
    dice: random.Random, what: str = "", pace: float = 0.001, among: Any = DEEDS
) -> Deed:
    """Return a deed, perhaps a certain one, with a value for each parameter."""
    what = what or _drawn(dice, {name: often for name, (often, _) in among.items()})
    pause, pick = dice.expovariate(1 / pace), dice.randrange(PICKS)
    chosen = {name: dice.choice(VALUES[name]) for name in _parameters(among[what])}
    return Deed(what, pause, pick, chosen)


def _parameters(deed: tuple[int, str]) -> list[str]:
    return sorted(("way", "forwarded", "origin", *deed[1].split()))


def _api_client(dice: random.Random, number: int) -> Client:
    pace = dice.choice((0.02, 0.3, 3.0))
    whats = ("add", "order", *[""] * dice.randint(3, 11))
    return Client(
        f"client-{number}",
        "api",
        dice.uniform(0, SECONDS),
        tuple(_deed(dice, what, pace) for what in whats),
        tenant=dice.choices(TENANTS, (5, 2, 3))[0],
        key=dice.randrange(KEYS - 1),
        latency=dice.choice((0.0002, 0.002, 0.05)),
        window=dice.choice((2_000, 16_000, 65_536)),
    )


def _clerk(dice: random.Random, number: int) -> Client:
    deeds = [_deed(dice, pace=1, among=FORMS) for _ in range(dice.randint(5, 12))]
    # Keys that nobody revokes.
    tenant, key = dice.choice((("shelter", KEYS - 1), ("rival", 0)))
    start = dice.uniform(0, SECONDS)
    return Client(f"clerk-{number}", "clerk", start, tuple(deeds), tenant, key)


def _reader(dice: random.Random, number: int) -> Client:
    pages = [
        Deed("page", dice.expovariate(1), dice.choice((1, 3, 20, 100)))
        for _ in range(dice.randint(5, 15))
    ]
    return Client(f"reader {number}", "reader", dice.uniform(0, 10), tuple(pages))


def _hostile(dice: random.Random, number: int) -> Client:
    deeds = [
        Deed(dice.choice(TRICKS.split(",")), dice.uniform(0, 5), dice.randrange(PICKS))
        for _ in range(dice.randint(1, 4))
    ]
    start, window = dice.uniform(0, 30), dice.choice((2_000, 65_536))
    name = f"hostile {number}"
    return Client(name, "hostile", start, tuple(deeds), window=window)


def _burst(dice: random.Random, burst: int, faults: list[Fault]) -> list[Client]:
    """Return clients that do the same thing within a moment, perhaps during a fault."""
    start = dice.uniform(0, SECONDS)
    if faults and dice.random() < 0.7:
        fault = dice.choice(faults)
        start = max(0.0, fault.start + dice.uniform(-0.02, fault.seconds))
    size = dice.choice((3, 5, 8, 12, 25, 60))
    kinds = ("add", "add", "order", "contest", "add_same", "list_pets", "mixed")
    kind, tenant = dice.choice(kinds), dice.choices(TENANTS, (3, 2, 2))[0]
    spread, may_leave = dice.choice((0.0, 0.002, 0.1)), dice.random() < 0.3
    pick, has_keys = dice.random(), dice.random() < 0.4
    clients = []
    for number in range(size):
        what = {"add_same": "add", "mixed": ""}.get(kind, kind)
        if kind == "contest":
            what = CONTEST[number % len(CONTEST)]
        deed = _deed(dice if kind == "mixed" else random.Random(pick), what)
        changes: dict[str, Any] = {}
        if kind != "mixed":
            is_left = may_leave and dice.random() < 0.5
            changes = {"way": "leave" if is_left else "whole", "reuse": False}
            changes |= {"has_key": has_keys, "tries": 3, "pet": "any"}
        if kind == "add_same":
            changes |= {"has_key": True, "same": f"the-same-{burst}"}
        deed = replace(deed, pause=0.0, chosen=deed.chosen | changes)
        at, key = start + dice.uniform(0, spread), number % (KEYS - 1)
        name = f"burst-{burst}-{number}"
        clients.append(Client(name, "api", at, (deed,), tenant=tenant, key=key))
    return clients


def _page(dice: random.Random) -> Client:
    """Return a web page with a key of its own."""
    deeds = tuple(
        _deed(dice, what, pace=0.5)
        for what in dice.choices(("list_pets", "add", "get"), (10, 3, 1), k=14)
    )
    start = dice.uniform(0, SECONDS)
    return Client("page", "api", start, deeds, tenant="rival", key=PAGE_KEY)


def _witnesses(dice: random.Random, faults: list[Fault]) -> Iterator[Client]:
    """Return clients that show what a fault does to a certain request.

    Some write while a COMMIT fails, and then nobody for a while. One asks while Redis
    is late or cuts, and later. While a file is locked, one opens a page and some write
    with an Idempotency-Key. One keeps its connection while the worker stops, and
    one comes. While a project is suspended, and before and after that, some ask and
    somebody opens pages.
    """
    for number, fault in enumerate(faults):
        if fault.what in ("redis slow", "redis cut amid a hit"):
            deeds = (Deed("list_pets", 1.2),) * 16
            yield Client(f"pacer-{number}", "api", fault.start, deeds, "quiet")
        if fault.what == "locked":
            looks = [Deed("open_page", each, chosen={"page": ""}) for each in (0, 0.6)]
            start = max(0.0, fault.start - 0.5)
            yield Client(f"looker-{number}", "clerk", start, tuple(looks), "quiet")
            deed = Deed("add", 0.05, chosen=VOLLEY | {"has_key": True, "tries": 1})
            for each in range(3):
                name = f"writer-{number}-{each}"
                yield Client(name, "api", fault.start, (deed,), "quiet")
        if fault.what == "stop":
            deeds = Deed("list_pets"), Deed("list_pets", 45.0)
            before, after = max(0.0, fault.start - 0.5), fault.start + 0.01
            yield Client(f"idler-{number}", "api", before, deeds, "quiet")
            yield Client(f"caller-{number}", "api", after, deeds[:1], "quiet")
        if fault.what == "suspend":
            pace = fault.seconds / 2
            start = max(0.0, fault.start - 1.2 * pace)
            asks = (Deed("list_pets", pace),) * 6
            looks = (Deed("open_page", pace, chosen={"page": "/orders"}),) * 6
            for key in (0, PAGE_KEY):
                name = f"asker-{number}-{key}"
                yield Client(name, "api", start, asks, SUSPENDED, key)
            for each in range(2):
                name = f"resident-{number}-{each}"
                yield Client(name, "clerk", start, looks, SUSPENDED)
        if fault.what in FAILING_COMMITS and dice.random() < 0.5:
            for each in range(8):
                name, deed = f"volley-{number}-{each}", Deed("add", chosen=VOLLEY)
                start = fault.start + dice.uniform(0, 0.03)
                yield Client(name, "api", start, (deed,), tenant="rival")


def _suspension(dice: random.Random) -> Fault:
    return Fault("suspend", dice.uniform(2, SECONDS), dice.uniform(0.5, 6))


def _fault(dice: random.Random, options: dict[str, Any]) -> Fault:
    among = FAULTS
    if not options["redis"]:
        among = {name: n for name, n in FAULTS.items() if not name.startswith("redis")}
    seconds = dice.choice((0.05, 0.5, 3.0, 8.0)) * dice.uniform(0.5, 1.5)
    start = dice.uniform(0, SECONDS)
    return Fault(_drawn(dice, among), start, seconds, dice.randrange(PICKS))
