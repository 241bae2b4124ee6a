"""The rules that a run is judged by; each quotes what the service promises."""

import sqlite3
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from http import HTTPStatus
from math import inf
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from petstore import timeouts
from petstore.storage import db
from petstore.web.turns import turns_of
from tests.simulation.disk import STALLED
from tests.simulation.history import Entry
from tests.simulation.plan import PAGE_LIMITS
from tests.simulation.service import WORKERS

if TYPE_CHECKING:
    from tests.simulation.stage import Stage

CALM_SECONDS = 0.15  # of a request that nothing disturbs: some COMMITs and delays
COMMIT_SECONDS = 0.02  # for each write that is under way: they wait for each other
COUNTER_SECONDS = 0.25
FAILING_SECONDS = 0.3
HANGING_SECONDS = 2.5
TOLERANCE = 0.06  # COMMITs and delayed sockets
RECOVERY_SECONDS = 3.0
LIMITS = timeouts.Limits()
WITH_KEYS = ("createPet", "createOrder", "updateOrder", "reuse", "updatePet")
PAGES = ("page", "open page", "ended page")
KEYLESS = ("stranger", "options", *PAGES)  # no key of the tenant is sent
ROLE_REFUSED = 403
LOCKED = ("locked", "counters locked")
COUNTERS = ("redis", "disk")  # whose outages these are
RESTARTS = ("kill", "stop")

Rule = Callable[["Stage"], Iterator[str]]
RULES: dict[str, Rule] = {}


def rule(promise: str) -> Callable[[Rule], Rule]:
    """Register a rule under the sentence that it checks."""

    def register(check: Rule) -> Rule:
        RULES[f"{check.__name__.replace('_', ' ')} ({promise})"] = check
        return check

    return register


def judge(stage: "Stage") -> Iterator[str]:
    """Yield each broken promise of a run that has ended."""
    for name, check in RULES.items():
        for number, found in enumerate(check(stage)):
            if number < 3:
                yield f"{name}: {found}"


def look_at_rest(stage: "Stage") -> None:
    """Look for what a worker keeps although no request is under way."""
    worker, engine = stage.service.worker, db.obj
    kept = {
        "connections of clients": len(worker._connections),
        "idle connections": len(worker._idle) + len(worker._slow),
        "sockets": stage.network.open_sockets(),
        "transactions": engine._writer.locked(),
        "connections to the database": timeouts.LIMITS.connections
        - engine._places.qsize(),
        "turns": len(turns_of(worker.wsgi)._running),
    }
    for what, count in kept.items():
        if count > 0:
            stage.world.faults.append(f"nothing is left over: {count} {what}")
    if not stage.service.is_serving:
        stage.world.faults.append("nothing is left over: no worker runs")


def rows(stage: "Stage", sql: str) -> list[tuple]:
    """Return rows of the database."""
    with closing(sqlite3.connect(stage.disk.file)) as connection:
        return connection.execute(sql).fetchall()


def entries(stage: "Stage", *operations: str) -> Iterator[Entry]:
    """Yield the requests of some operations."""
    for entry in stage.history.entries:
        if entry.operation in operations:
            yield entry


def windows(stage: "Stage", *kinds: str, after: float) -> list[tuple[float, float]]:
    """Return when faults of these kinds disturbed requests, and some time after."""
    return [
        (1000 + each.start, 1000 + each.start + each.seconds + after)
        for each in stage.plan.faults
        if each.what.startswith(kinds)
    ]


def overlaps(entry: Entry, windows: list[tuple[float, float]]) -> bool:
    """Return whether a request was under way in one of the windows."""
    ended_at = entry.ended_at or inf
    return any(start <= ended_at and entry.sent_at <= end for start, end in windows)


@rule("An acknowledged write survives the kill of any process")
def acknowledged_writes_are_there_once(stage: "Stage") -> Iterator[str]:
    orders = rows(stage, "SELECT id, pet_id, reference FROM pet_order")
    there: set[tuple[object, ...]] = {*rows(stage, "SELECT id, name FROM pet"), *orders}
    changed = {each.row_id for each in entries(stage, "updatePet", "deletePet")}
    told: dict[tuple[str, int], Entry] = {}
    for entry in entries(stage, "createPet", "createOrder"):
        if entry.status != 201:
            continue
        row_id, operation, body = entry.json["id"], entry.operation, entry.body
        if operation == "createOrder":
            is_there = (row_id, body["petId"], body.get("reference")) in there
        else:
            is_there = (row_id, body["name"]) in there or row_id in changed
        if not is_there:
            yield f"{entry} is not there"
        before = told.setdefault((operation, row_id), entry)
        if before.idempotency_key != entry.idempotency_key or (
            before is not entry and not entry.idempotency_key
        ):
            yield f"{before} and {entry} got the same id"


@rule("No retry ever creates a second animal")
def nothing_is_there_twice(stage: "Stage") -> Iterator[str]:
    pets = Counter(rows(stage, "SELECT project_id, name FROM pet"))
    sent: dict[tuple[int, str], list[Entry]] = defaultdict(list)
    for entry in entries(stage, "createPet"):
        project = stage.history.tenants[entry.tenant].id
        sent[project, entry.body["name"]].append(entry)
    for name, attempts in sent.items():
        has_key = attempts[0].idempotency_key is not None
        most = 1 if has_key else len(attempts)
        if pets[name] > most:
            yield f"{pets[name]} animals of {attempts[0]}"


@rule("a write with one is never carried out after its 503")
def what_was_given_up_is_not_carried_out(stage: "Stage") -> Iterator[str]:
    # What SQLite could not sync is in its log all the same: it is found there when the
    # process dies before the next COMMIT.
    unsynced = windows(stage, "disk sync", after=0)
    pets = set(rows(stage, "SELECT project_id, name FROM pet"))
    attempts: dict[tuple[int, str], list[Entry]] = defaultdict(list)
    for entry in entries(stage, "createPet", "reuse", "updatePet"):
        if entry.idempotency_key:
            project = stage.history.tenants[entry.tenant].id
            attempts[project, entry.body["name"]].append(entry)
    for name, sent in attempts.items():
        is_refused = {each.status for each in sent} <= {400, 401, 403, 404, 429, 503}
        is_unsynced = any(overlaps(each, unsynced) for each in sent)
        if is_refused and not is_unsynced and name in pets:
            yield f"{sent[-1]} was carried out"


@rule("of any number of clients that order one animal at once exactly one gets 201")
def an_animal_has_one_order(stage: "Stage") -> Iterator[str]:
    known = dict(rows(stage, "SELECT id, pet_id FROM pet_order"))
    state = dict(rows(stage, "SELECT id, status FROM pet"))
    orders: dict[int, list[str]] = defaultdict(list)
    for pet, status in rows(stage, "SELECT pet_id, status FROM pet_order"):
        orders[pet].append(status)
    for pet, status in state.items():
        open_orders = orders[pet].count("placed"), orders[pet].count("completed")
        wanted = {"available": (0, 0), "pending": (1, 0), "sold": (0, 1)}[status]
        if open_orders != wanted:
            yield f"animal {pet} is {status} with orders {orders[pet]}"
    for pet in orders.keys() - state.keys():
        if "placed" in orders[pet]:
            yield f"animal {pet} was withdrawn with orders {orders[pet]}"
    for entry in entries(stage, "updateOrder"):
        if entry.status == 200 and not entry.is_replay and entry.row_id not in known:
            yield f"{entry} is not there"


@rule("`PATCH /pets/{petId}` corrects")
def a_correction_is_there(stage: "Stage") -> Iterator[str]:
    pets = rows(stage, "SELECT id, name, category_id FROM pet")
    there = {row_id: values for row_id, *values in pets}
    created = {
        each.json["id"]: each
        for each in entries(stage, "createPet")
        if each.status == 201
    }
    corrections: dict[int, list[Entry]] = defaultdict(list)
    for entry in entries(stage, "updatePet"):
        if entry.status in (0, 200, 503) and not entry.is_replay:
            corrections[entry.row_id].append(entry)
    for row_id in corrections.keys() & created.keys() & there.keys():
        for member, value in zip(("name", "categoryId"), there[row_id], strict=True):
            own = [each for each in corrections[row_id] if member in each.body]
            last = max((each.sent_at for each in own if each.status == 200), default=0)
            known = [each for each in own if not each.status or each.ended_at >= last]
            known += [] if last else [created[row_id]]
            if value not in [each.body[member] for each in known]:
                yield f"animal {row_id} has the {member} {value} after {own[-1]}"


@rule("`DELETE /pets/{petId}` withdraws an animal: 204, and from then on 404")
def a_withdrawn_animal_is_gone(stage: "Stage") -> Iterator[str]:
    there = {row_id for (row_id,) in rows(stage, "SELECT id FROM pet")}
    gone: dict[int, Entry] = {}
    for entry in entries(stage, "deletePet"):
        if entry.status == 204:
            if entry.row_id in there or entry.row_id in gone:
                yield f"{entry} is there"
            gone[entry.row_id] = entry
    for entry in stage.history.entries:
        if entry.is_acknowledged and not entry.is_replay:
            for row_id in _pets_in(entry) & gone.keys():
                if entry.sent_at > gone[row_id].ended_at:
                    yield f"{entry} after {gone[row_id]}"


def _pets_in(entry: Entry) -> set[int]:
    match entry.operation:
        case "listPets":
            return {pet["id"] for pet in entry.json}
        case "createOrder":
            return {entry.body["petId"]}
        case "getPet" | "updatePet":
            return {entry.row_id}
    return set()


@rule("`status`, `categoryId`, `after` and `limit` may be combined")
def a_page_has_what_its_parameters_name(stage: "Stage") -> Iterator[str]:
    changed = {each.row_id for each in entries(stage, "updatePet", "deletePet")}
    changed |= {each.body["petId"] for each in entries(stage, "createOrder")}
    created = [each for each in entries(stage, "createPet") if each.status == 201]
    unchanged = [each for each in created if each.json["id"] not in changed]
    for entry in entries(stage, "listPets"):
        if entry.status != HTTPStatus.OK:
            continue
        wanted = dict(parse_qsl(entry.path.partition("?")[2]))
        limit, after = int(wanted.pop("limit", 20)), int(wanted.pop("after", 0))
        ids = [pet["id"] for pet in entry.json]
        if (
            ids != sorted(set(ids))
            or len(ids) > limit
            or min(ids, default=inf) <= after
        ):
            yield f"{entry}: {ids}"
        last = ids[-1] if len(ids) == limit else inf
        there = [
            each.json
            for each in unchanged
            if each.tenant == entry.tenant
            and each.ended_at < entry.sent_at
            and after < each.json["id"] <= last
        ]
        missing = {pet["id"] for pet in there if _has(pet, wanted)} - {*ids}
        if missing or not all(_has(pet, wanted) for pet in entry.json):
            yield f"{entry}: {ids} without {missing}"


def _has(pet: dict[str, object], wanted: dict[str, str]) -> bool:
    return all(str(pet[member]) == value for member, value in wanted.items())


@rule("A reader that follows `after` while others write never misses an animal")
def a_page_never_misses_an_animal(stage: "Stage") -> Iterator[str]:
    withdrawn = {each.row_id for each in entries(stage, "deletePet")}
    for reader in stage.history.readers:
        project = stage.history.tenants[reader.tenant].id
        found = rows(stage, f"SELECT id FROM pet WHERE project_id = {project}")
        there = {row for (row,) in found if row <= reader.last}
        invented = reader.seen - there - withdrawn
        if there - reader.seen or invented:
            yield f"missed {there - reader.seen}, invented {invented}"


@rule("the same key with the same body replays it, with another body it is a 422")
def a_key_stands_for_one_request(stage: "Stage") -> Iterator[str]:
    first: dict[tuple[str, str, str], Entry] = {}
    for entry in entries(stage, *WITH_KEYS):
        if not entry.idempotency_key or entry.status not in (200, 201, 409, 422):
            continue
        place = entry.tenant, entry.path, entry.idempotency_key
        known = first.get(place, entry)
        if entry.is_carried_out:
            first.setdefault(place, entry)
        is_later = known is not entry and known.ended_at < entry.sent_at
        if known.body != entry.body:
            if entry.status != 422:
                yield f"{entry} after {known}"
        elif entry.is_carried_out and known.json != entry.json:
            yield f"{entry} differs from {known}"
        elif is_later and not entry.is_replay:
            yield f"{entry} is no replay of {known}"


@rule("Counts are exact")
def quotas_are_exact(stage: "Stage") -> Iterator[str]:
    away = windows(stage, *COUNTERS, after=1.5)
    seen: dict[tuple[str, str], dict[str, Entry]] = defaultdict(dict)
    for entry in stage.history.entries:
        tenant = stage.history.tenants[entry.tenant]
        told = entry.headers.get("x-ratelimit-limit")
        if told != str(tenant.per_minute) or entry.status == 429:
            continue
        window = seen[entry.tenant, entry.headers["x-ratelimit-reset"]]
        before = window.setdefault(entry.headers["x-ratelimit-remaining"], entry)
        is_twice = before is not entry and not overlaps(entry, away)
        if is_twice and not overlaps(before, away):
            yield f"{before} and {entry} have the same number of requests left"


@rule("It takes nothing from the other window")
def nothing_is_counted_twice(stage: "Stage") -> Iterator[str]:
    away = windows(stage, *COUNTERS, after=4.0)
    deeds = [deed.what for client in stage.plan.clients for deed in client.deeds]
    beside = deeds.count("no reading")  # which is not in the history
    for tenant in stage.history.tenants.values():
        own = [each for each in stage.history.entries if each.tenant == tenant.name]
        sent = sorted(each.sent_at for each in own if each.status != 429)
        for entry in own:
            served = entry.day_served(tenant.per_day)
            if served is None or overlaps(entry, away):
                continue
            before = bisect_right(sent, entry.ended_at)
            if served > before + beside:
                yield f"{entry}: {served} served, of {before}"


@rule("A key may have two numbers")
def limits_of_a_key_are_exact(stage: "Stage") -> Iterator[str]:
    away = windows(stage, *COUNTERS, after=4.0)
    served: Counter[tuple[str, int, str]] = Counter()
    for entry in stage.history.entries:
        is_known = "x-ratelimit-reset" in entry.headers and entry.status != 401
        if entry.is_for_page and is_known and not overlaps(entry, away):
            reset = entry.headers["x-ratelimit-reset"]
            was_counted = entry.status not in (429, 503)  # these have taken nothing
            served[entry.tenant, entry.key, reset] += was_counted
    for (name, key, reset), count in served.items():
        if count > PAGE_LIMITS[0]:
            yield f"{count} requests with key {key} of {name} until {reset}"


@rule("A key is `public` (GET and HEAD of animals and categories alone)")
def a_key_does_what_its_role_allows(stage: "Stage") -> Iterator[str]:
    for entry in stage.history.entries:
        may_write = not entry.is_for_page
        if may_write and entry.status == ROLE_REFUSED and entry.operation not in PAGES:
            yield f"{entry} {entry.json}"
        is_public = entry.method == "GET" and "order" not in entry.path
        if not may_write and not is_public and entry.is_carried_out:
            yield f"{entry} with a key for a web page"


@rule("The session names that key and ends with it on the very next request")
def a_session_that_has_ended_opens_nothing(stage: "Stage") -> Iterator[str]:
    for entry in entries(stage, "ended page"):
        if entry.status == HTTPStatus.OK:
            yield str(entry)


@rule("A refused request has a reason: its window is used up, or its key is banned")
def refusals_have_a_reason(stage: "Stage") -> Iterator[str]:
    away = windows(stage, *COUNTERS, after=4.0)
    for entry in stage.history.entries:
        if entry.status != 429 or entry.operation in KEYLESS:
            continue
        tenant = stage.history.tenants[entry.tenant]
        workers = WORKERS if overlaps(entry, away) else 1
        key_limit = PAGE_LIMITS[0] if entry.is_for_page else 1_000
        before = [
            each
            for each in stage.history.entries
            if each.tenant == entry.tenant
            and entry.ended_at - 430 < each.sent_at <= entry.ended_at
        ]
        own = [each for each in before if each.key == entry.key]
        if (
            len(before) <= tenant.per_minute // workers
            and len(own) <= key_limit // workers
        ):
            yield f"{entry}, after {len(before)} requests, {len(own)} with its key"


@rule("is banned for 300 s; a client that waits exactly that long is served")
def a_ban_ends_in_time(stage: "Stage") -> Iterator[str]:
    wanted = {"banned": 429, "freed": 200}
    for entry in entries(stage, *wanted):
        if entry.status not in (0, 503, wanted[entry.operation]):
            yield f"{entry} {entry.json}"


@rule("never beyond the sum of the workers' shares")
def no_more_is_served_than_the_limits(stage: "Stage") -> Iterator[str]:
    workers = most_workers(stage) * bool(windows(stage, *COUNTERS, after=0))
    for (name, reset), count in granted(stage).items():
        limit = stage.history.tenants[name].per_minute
        if count > limit + workers * (limit // WORKERS):
            yield f"{count} requests of {name} until {reset}"


def granted(stage: "Stage") -> Counter[tuple[str, str]]:
    """Count what each project was granted, by its minutes."""
    counts: Counter[tuple[str, str]] = Counter()
    for entry in stage.history.entries:
        limit = str(stage.history.tenants[entry.tenant].per_minute)
        if entry.headers.get("x-ratelimit-limit") == limit:
            reset = entry.headers["x-ratelimit-reset"]
            counts[entry.tenant, reset] += entry.status != 429
    return counts


def most_workers(stage: "Stage") -> int:
    """Return how many workers may have run, one at a time."""
    ended = sum(each.what in RESTARTS for each in stage.plan.faults)
    return 1 + ended + 20 * ("max_requests" in stage.plan.options)


@rule("503 within 0.3 s, 2.5 s where it hangs; a quarter of a second for counters")
def answers_come_in_time(stage: "Stage") -> Iterator[str]:
    database = windows(stage, "disk", *LOCKED, after=RECOVERY_SECONDS)
    hanging = windows(stage, "disk stalled", *LOCKED, after=STALLED[1])
    stalled = windows(stage, "disk stalled", after=STALLED[1])
    counters = windows(stage, "redis", after=RECOVERY_SECONDS)
    everything = stage.history.entries
    writes = [each for each in everything if each.method not in ("GET", "HEAD")]
    for entry in everything:
        began, ended = entry.sent_at, entry.ended_at
        beside = sum(e.sent_at <= ended and began <= e.ended_at for e in writes)
        limit = CALM_SECONDS
        if overlaps(entry, counters):
            limit += COUNTER_SECONDS + TOLERANCE  # beside what it takes otherwise
        if overlaps(entry, database):
            limit = max(limit, FAILING_SECONDS + TOLERANCE)
        if overlaps(entry, hanging):
            limit = HANGING_SECONDS + TOLERANCE
            if entry.status != 503:
                limit += COUNTER_SECONDS + 2 * STALLED[1]
            elif entry.operation == "createPet" and overlaps(entry, stalled):
                # A new category makes two transactions. The COMMIT of the first one
                # cannot be taken back, even if no time is left for the second.
                limit += STALLED[1]
        if entry.status and entry.waited > limit + beside * COMMIT_SECONDS:
            yield f"{entry} took {entry.waited:.3f} s"


@rule("each that stays is answered")
def nobody_starves(stage: "Stage") -> Iterator[str]:
    ends = windows(stage, "kill", after=1.0)
    is_crowded = "connections" in stage.plan.options
    is_recycled = "max_requests" in stage.plan.options
    for entry in stage.history.entries:
        if entry.status or entry.reason == "left" or is_crowded:
            continue
        # A client that reads nothing keeps the only worker from ending, and from being
        # replaced.
        if is_recycled and entry.reason == "timeout":
            continue
        if entry.reason != "timeout" and (overlaps(entry, ends) or entry.is_reused):
            continue
        yield f"{entry}: no answer"


@rule("503 while the database is away, and recovery without a restart")
def failures_have_a_reason(stage: "Stage") -> Iterator[str]:
    away = windows(stage, "disk", *LOCKED, after=RECOVERY_SECONDS)
    for entry in stage.history.entries:
        if entry.status >= 500 and (entry.status != 503 or not overlaps(entry, away)):
            yield f"{entry} {entry.json}"


@rule("recovery: everything is served again")
def everything_is_served_again(stage: "Stage") -> Iterator[str]:
    probes = getattr(stage, "probes", [])
    if [probe.status for probe in probes] != [200, 201, 201, 200, 200]:
        yield ", ".join(f"{probe} {probe.json}" for probe in probes) or "no probe"
    elif probes[0].json["counters"] != "ok":
        yield "the counter store is not used again"


ALLOWED = {
    "createPet": {201, 409},
    "reuse": {201, 409, 422},
    "createOrder": {201, 400, 409, 422},
    "updateOrder": {200, 404, 409, 422},
    "getPet": {200, 404},
    "updatePet": {200, 404, 409, 422},
    "deletePet": {204, 404, 409},
    "getOrder": {200, 404},
    "putCategory": {200, 201},
    "invalid": {400},
    "stranger": {401},
    "elsewhere": {404},
    "options": {204},
    "page": {200, 302, 303, 400, 401},
    "open page": {200},
    "ended page": {303},
}


@rule("Two projects never see each other's data")
def answers_are_those_of_the_operation(stage: "Stage") -> Iterator[str]:
    for entry in stage.history.entries:
        allowed = ALLOWED.get(entry.operation, {200, 201}) | {0, 401, 429, 503}
        if entry.is_for_page:
            allowed = allowed | {ROLE_REFUSED}
        if entry.status not in allowed:
            yield f"{entry} {entry.json}"
        ends_from = stage.history.tenants[entry.tenant].ends_from
        is_known = entry.operation not in KEYLESS
        works = entry.ended_at < ends_from.get(entry.key, inf)
        if entry.status == 401 and is_known and works:
            yield f"{entry}: its key works"


@rule("a revoked or expired key stops on the very next request")
def a_revoked_key_never_works_again(stage: "Stage") -> Iterator[str]:
    for entry in stage.history.entries:
        revoked_at = stage.history.tenants[entry.tenant].revoked_at.get(entry.key)
        is_keyless = entry.operation in KEYLESS
        if revoked_at is None or is_keyless or entry.sent_at <= revoked_at:
            continue
        if entry.status not in (0, 401, 429, 503):
            yield f"{entry}, revoked at {revoked_at:.3f}"


@rule("no client takes more than its connection and its own time")
def half_requests_are_closed(stage: "Stage") -> Iterator[str]:
    ends = windows(stage, "kill", "stop", after=30)
    slack = LIMITS.tick_seconds + LIMITS.linger_seconds + 1.0
    limit = LIMITS.request_seconds + slack
    for who, began_at, closed_at in stage.history.held:
        is_near_restart = any(start <= closed_at <= end for start, end in ends)
        if not is_near_restart and closed_at - began_at > limit:
            yield f"{who} held a connection for {closed_at - began_at:.3f} s"
