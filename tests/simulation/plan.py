"""What happens in a run: clients with their deeds, and faults; all from a seed."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

SECONDS = 20.0  # in which clients begin; they go on as long as it takes
PICKS = 1_000_000
KEYS = 4  # of each tenant, which may do everything
PAGE_KEY = 4  # its key that may do less
CATEGORIES = range(5)
PAGE_LIMITS = (6, 60)  # of the key for a web page
TENANTS = ("shelter", "kennel", "rival")

DEEDS = {  # how often each is done
    "add": 10,
    "add_again": 1,
    "order": 8,
    "complete": 2,
    "cancel": 3,
    "list_pets": 5,
    "list_orders": 1,
    "correct": 2,
    "withdraw": 2,
    "get": 4,
    "get_order": 1,
    "name_category": 2,
    "list_categories": 1,
    "invalid": 1,
    "stranger": 1,
    "elsewhere": 1,
    "options": 1,
}
WITH_KEYS = ("add", "add_again", "order", "complete", "cancel", "correct")
CONTEST = ("order", "withdraw", "order", "correct")  # of clients for one animal
# What a member of a project does with a session, in the first of eight seeds.
STORIES = ("revoke", "be banned")
WAYS = {"whole": 12, "pieces": 3, "drip": 1, "half_close": 2, "leave": 2, "new": 3}
FAULTS = {
    "redis down": 3,
    "redis silent": 3,
    "redis slow": 2,
    "redis full": 1,
    "redis loading": 1,
    "redis cut": 2,
    "disk full": 3,
    "disk write error": 2,
    "disk sync error": 1,
    "disk unreadable": 2,
    "disk gone": 2,
    "disk stalled": 4,
    "locked": 4,
    "counters locked": 2,
    "kill": 4,
    "stop": 4,
    "clock": 2,
    "revoke": 3,
}
FAILING_COMMITS = ("disk full", "disk write error", "disk gone")


@dataclass(frozen=True)
class Deed:
    """What a client does, after a pause."""

    what: str
    pause: float = 0.0
    pick: int = 0  # decides what else there is to choose
    way: str = "whole"  # how the request is sent
    key: str | None = None  # an Idempotency-Key
    tries: int = 1

    def choose(self, what: str, among: Sequence[Any]) -> Any:
        """Choose a value for a parameter, whatever is chosen for the others."""
        return random.Random(f"{self.pick} {what}").choice(among)


@dataclass(frozen=True)
class Client:
    """Somebody who sends requests one after the other."""

    name: str
    kind: str  # api, reader, member or hostile
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
    options = {"redis": int(dice.random() < 0.55)}
    if dice.random() < 0.15:
        options["connections"] = dice.randint(4, 12)
    if dice.random() < 0.15:
        options["max_requests"] = dice.randint(30, 100)
    faults = [_fault(dice, options) for _ in range(dice.choice((0, 2, 3, 4, 5, 7)))]
    clients = [_api_client(dice, number) for number in range(dice.randint(3, 6))]
    clients += [_reader(dice, number) for number in range(dice.randint(1, 2))]
    clients += [_hostile(dice, number) for number in range(dice.randint(0, 3))]
    for number in range(dice.choice((0, 1, 2, 3))):
        clients += _burst(dice, number, faults)
    clients += _members(seed)
    clients += _volleys(random.Random(f"volleys {seed}"), faults)
    return Plan(seed, tuple(clients), tuple(faults), options)


def _chosen(dice: random.Random, among: dict[str, int]) -> str:
    return dice.choices(list(among), list(among.values()))[0]


def _deed(dice: random.Random, client: str, number: int, pace: float) -> Deed:
    what = _chosen(dice, DEEDS)
    may_have_key = what in WITH_KEYS
    has_key = what == "add_again" or (may_have_key and dice.random() < 0.5)
    return Deed(
        what,
        pause=dice.expovariate(1 / pace),
        pick=dice.randrange(PICKS),
        way=_chosen(dice, WAYS),
        key=f"{client}.{number}" if has_key else None,
        tries=dice.choice((1, 2, 3, 6)) if has_key else 1,
    )


def _api_client(dice: random.Random, number: int) -> Client:
    name, pace = f"client-{number}", dice.choice((0.02, 0.3, 3.0))
    deeds = [_deed(dice, name, each, pace) for each in range(dice.randint(4, 12))]
    return Client(
        name,
        "api",
        dice.uniform(0, SECONDS),
        tuple(deeds),
        tenant=dice.choices(TENANTS, (5, 3, 1))[0],
        key=dice.randrange(KEYS - 1),
        latency=dice.choice((0.0002, 0.002, 0.05)),
        window=dice.choice((2_000, 16_000, 65_536)),
    )


def _reader(dice: random.Random, number: int) -> Client:
    pages = [
        Deed("page", dice.expovariate(1), dice.choice((1, 3, 20, 100)))
        for _ in range(dice.randint(5, 15))
    ]
    return Client(f"reader {number}", "reader", dice.uniform(0, 10), tuple(pages))


def _hostile(dice: random.Random, number: int) -> Client:
    tricks = ("half a head", "drip", "garbage", "two at once", "no reading")
    tricks += ("unfinished body", "cut")
    deeds = [
        Deed(dice.choice(tricks), dice.uniform(0, 5), dice.randrange(PICKS))
        for _ in range(dice.randint(1, 4))
    ]
    return Client(f"hostile {number}", "hostile", dice.uniform(0, 30), tuple(deeds))


def _burst(dice: random.Random, burst: int, faults: list[Fault]) -> list[Client]:
    """Return clients that do the same thing within a moment, perhaps during a fault."""
    start = dice.uniform(0, SECONDS)
    if faults and dice.random() < 0.7:
        fault = dice.choice(faults)
        start = max(0.0, fault.start + dice.uniform(-0.02, fault.seconds))
    size = dice.choice((3, 5, 8, 12, 25, 60))
    what = dice.choice(
        ("add", "add", "order", "contest", "add_same", "list_pets", "mixed")
    )
    tenant, pick = dice.choices(TENANTS, (3, 2, 1))[0], dice.randrange(PICKS)
    spread, may_leave = dice.choice((0.0, 0.002, 0.1)), dice.random() < 0.3
    clients = []
    for number in range(size):
        name = f"burst-{burst}-{number}"
        deed = Deed(what if what != "add_same" else "add", 0.0, pick)
        if what == "mixed":
            deed = _deed(dice, name, 0, 0.001)
        if what == "add_same":
            deed = replace(deed, key=f"the-same-{burst}", tries=3)
        elif what == "contest":
            deed = replace(deed, what=CONTEST[number % len(CONTEST)])
        elif what in ("add", "order") and dice.random() < 0.4:
            deed = replace(deed, key=f"{name}", tries=3)
        if may_leave and dice.random() < 0.5:
            deed = replace(deed, way="leave")
        at = start + dice.uniform(0, spread)
        key = number % (KEYS - 1)
        clients.append(Client(name, "api", at, (deed,), tenant=tenant, key=key))
    return clients


def _members(seed: int) -> Iterator[Client]:
    """Return somebody with a session, and a web page with a key of its own."""
    dice = random.Random(f"members {seed}")
    if story := dict(enumerate(STORIES)).get(seed % 8):
        # Nobody else uses this key, so that it may be revoked, or banned: which takes
        # as many requests as the project may send in a minute.
        tenant = "kennel" if story == "be banned" else "rival"
        start, deeds = dice.uniform(0, SECONDS), (Deed(story, pick=seed // 8),)
        yield Client("member", "member", start, deeds, tenant=tenant, key=KEYS - 1)
    if seed % 3 == 0:
        whats = ["list_pets"] * 10 + ["add"] * 4
        dice.shuffle(whats)
        deeds = tuple(Deed(what, dice.expovariate(2)) for what in whats)
        start = dice.uniform(0, SECONDS)
        yield Client("page", "api", start, deeds, tenant="rival", key=PAGE_KEY)


def _volleys(dice: random.Random, faults: list[Fault]) -> Iterator[Client]:
    """Return clients that write while a COMMIT fails, and then nobody for a while."""
    for number, fault in enumerate(faults):
        if fault.what in FAILING_COMMITS and dice.random() < 0.5:
            for each in range(8):
                name, deed = f"volley-{number}-{each}", Deed("add")
                start = fault.start + dice.uniform(0, 0.03)
                yield Client(name, "api", start, (deed,), tenant="rival")


def _fault(dice: random.Random, options: dict[str, Any]) -> Fault:
    among = FAULTS
    if not options["redis"]:
        among = {name: n for name, n in FAULTS.items() if not name.startswith("redis")}
    seconds = dice.choice((0.05, 0.5, 3.0, 8.0)) * dice.uniform(0.5, 1.5)
    start = dice.uniform(0, SECONDS)
    return Fault(_chosen(dice, among), start, seconds, dice.randrange(PICKS))
