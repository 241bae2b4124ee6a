"""The rules that a run is judged by; each quotes what the service promises."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from math import inf
from typing import TYPE_CHECKING

from petstore import timeouts
from petstore.storage import db
from petstore.web.turns import REFUSED, turns_of
from tests.together.simulation.disk import STALLED
from tests.together.simulation.histories import (
    History,
    of_animals,
    of_rows,
    of_windows,
    overlaps,
    rows,
    windows,
)
from tests.together.simulation.linear import UNDECIDED, Undecided, contradiction
from tests.together.simulation.plan import ACTS
from tests.together.simulation.service import WORKERS

if TYPE_CHECKING:
    from tests.together.simulation.stage import Stage

CALM_SECONDS = 0.2  # of a request that nothing disturbs: some COMMITs and delays
COMMIT_SECONDS = 0.02  # for each write that is under way: they wait for each other
COUNTER_SECONDS = 0.25
FAILING_SECONDS = 0.3
HANGING_SECONDS = 2.5
TOLERANCE = 0.06  # COMMITs and delayed sockets
RECOVERY_SECONDS = 3.0
LIMITS = timeouts.Limits()
KEYLESS = ("stranger", "options", "page")  # no key of the tenant is sent
FORBIDDEN = 403
LOCKED = ("locked", "counters locked")
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


@rule("An acknowledged write survives the kill of any process")
def animals_are_what_their_requests_made_them(stage: "Stage") -> Iterator[str]:
    for tenant in stage.history.tenants.values():
        yield from _contradictions(stage, of_animals(stage, tenant))


@rule("exactly the limit fits, whatever is done at the same time")
def rows_are_counted(stage: "Stage") -> Iterator[str]:
    tenants = stage.history.tenants.values()
    yield from _contradictions(stage, (of_rows(stage, each) for each in tenants))


@rule("Counts are exact")
def quotas_are_exact(stage: "Stage") -> Iterator[str]:
    yield from _contradictions(stage, of_windows(stage))


def _contradictions(stage: "Stage", histories: Iterable[History]) -> Iterator[str]:
    for operations, initial, step in histories:
        try:
            found = contradiction(operations, initial, step)
        except Undecided:
            stage.world.counts[UNDECIDED] += 1
        else:
            if found:
                yield f"{found.source} fits into no order: {found.call}"


@rule("A reader that follows `after` while others write never misses an animal")
def a_reader_misses_no_animal(stage: "Stage") -> Iterator[str]:
    for reader in (each for each in stage.plan.clients if each.kind == "reader"):
        project = stage.history.tenants[reader.tenant].id
        found = rows(stage, "SELECT id FROM pet WHERE project_id = ?", project)
        seen = {
            pet["id"]
            for entry in stage.history.entries
            if entry.client == reader.name and entry.status == HTTPStatus.OK
            for pet in entry.json
        }
        there = {id for (id,) in found if id <= max(seen, default=0)}
        if there - seen:
            yield f"{reader.name} missed {there - seen}"


@rule("A request over the limit receives 429")
def refusals_have_a_reason(stage: "Stage") -> Iterator[str]:
    for entry in stage.history.entries:
        left = [each for _, each in entry.figures.values()]
        is_hidden = entry.is_for_page  # it may be the project that is refused
        if entry.code == "rate_limit_exceeded" and all(left) and not is_hidden:
            yield f"{entry}: {entry.figures}"


@rule("never beyond the sum of the workers' shares")
def no_more_is_served_than_the_limits(stage: "Stage") -> Iterator[str]:
    restarts = sum(each.what in RESTARTS for each in stage.plan.faults)
    shares = 1 + restarts + 20 * ("max_requests" in stage.plan.options)
    served: Counter[tuple[str, str]] = Counter()
    for entry in stage.history.entries:
        limit, _ = entry.figures.get("minute", (0, 0))
        if limit == stage.history.tenants[entry.tenant].per_minute:
            is_served = entry.status not in (429, 503)
            served[entry.tenant, entry.headers["x-ratelimit-reset"]] += is_served
    for (name, reset), count in served.items():
        limit = stage.history.tenants[name].per_minute
        if count > limit + shares * (limit // WORKERS):
            yield f"{count} requests of {name} until {reset}"


@rule("503 within 0.3 s, 2.5 s where it hangs; a quarter of a second for counters")
def answers_come_in_time(stage: "Stage") -> Iterator[str]:
    database = windows(stage, "disk", *LOCKED, after=RECOVERY_SECONDS)
    hanging = windows(stage, "disk stalled", *LOCKED, after=STALLED[1])
    stalled = windows(stage, "disk stalled", after=STALLED[1])
    broken = windows(stage, "disk", after=0)
    # Readers wait, too: for locked counters, and for a log that is to be recovered.
    hiding = windows(stage, "disk", LOCKED[1], after=RECOVERY_SECONDS)
    hiding += [
        (start, end)
        for start, end in windows(stage, LOCKED[0], after=0.1)
        if any(begun <= end and start <= over for begun, over in broken)
    ]
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
        may_ban = entry.headers.get("x-ratelimit-remaining") == "0"  # which is a write
        is_read = not may_ban and entry not in writes
        if is_read and not overlaps(entry, hiding):
            if overlaps(entry, hanging):
                # Behind others of its caller.
                limit += LIMITS.turn_seconds * (beside > LIMITS.few_requests)
        elif overlaps(entry, hanging):
            limit = HANGING_SECONDS + TOLERANCE
            if entry.status != 503:
                limit += COUNTER_SECONDS + 2 * STALLED[1]
            elif overlaps(entry, stalled):
                # What is under way in C when the time is over cannot be taken back.
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
        is_away = entry.status == 503 and overlaps(entry, away)
        # Whether it waited for good reason is another rule.
        has_waited = entry.waited > LIMITS.turn_seconds - TOLERANCE
        is_crowded = has_waited and REFUSED in f"{entry.json}"
        if entry.status >= 500 and not (is_away or is_crowded):
            yield f"{entry} {entry.json}"


@rule("where only the lock of the whole embedded file tells, the replay or a 503")
def no_key_is_said_to_be_in_use(stage: "Stage") -> Iterator[str]:
    for entry in stage.history.entries:
        if entry.code == "idempotency_key_in_use":
            yield f"{entry}: a file was locked"


@rule("recovery: everything is served again")
def everything_is_served_again(stage: "Stage") -> Iterator[str]:
    probes = getattr(stage, "probes", [])
    if [probe.status for probe in probes] != [200, 201, 201, 200, 200]:
        yield ", ".join(f"{probe} {probe.json}" for probe in probes) or "no probe"
    elif probes[0].json["counters"] != "ok":
        yield "the counter store is not used again"


EXPLAINED = {200, 201, 204, 404, 409, 422}  # by the histories
ALLOWED = {name: set(each) for name, each in ACTS["allowed"].items()}


@rule("Two projects never see each other's data")
def answers_are_those_of_the_operation(stage: "Stage") -> Iterator[str]:
    for entry in stage.history.entries:
        allowed = ALLOWED.get(entry.operation, EXPLAINED) | {0, 401, 429, 503}
        tenant = stage.history.tenants[entry.tenant]
        if entry.is_for_page or tenant.is_suspended(entry.sent_at, entry.ended_at):
            allowed = allowed | {FORBIDDEN}
        if entry.status not in allowed:
            yield f"{entry} {entry.json}"
        revoked_at = tenant.revoked_at
        is_known = entry.operation not in KEYLESS
        works = entry.ended_at < revoked_at.get(entry.key, inf)
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


@rule("403 from the next request on; its sessions end, and people sign in again")
def a_suspended_project_is_served_nothing(stage: "Stage") -> Iterator[str]:
    for entry in stage.history.entries:
        if entry.operation == "page":
            is_refused = entry.leads_to_sign_in or entry.status not in (200, 303)
        else:
            is_refused = entry.status in (0, 401, 403, 429, 503)
        if is_refused or entry.operation in ("stranger", "options"):
            continue
        for since, until in stage.history.tenants[entry.tenant].suspended:
            has_session = entry.signed_in_at is not None
            is_old = has_session and entry.signed_in_at < until
            if since < entry.sent_at and (entry.ended_at < until or is_old):
                yield f"{entry}, suspended from {since:.3f} to {until:.3f}"


@rule("no client takes more than its connection and its own time")
def half_requests_are_closed(stage: "Stage") -> Iterator[str]:
    ends = windows(stage, "kill", "stop", after=30)
    slack = LIMITS.tick_seconds + LIMITS.linger_seconds + 1.0
    limit = LIMITS.request_seconds + slack
    for who, began_at, closed_at in stage.history.held:
        is_near_restart = any(start <= closed_at <= end for start, end in ends)
        if not is_near_restart and closed_at - began_at > limit:
            yield f"{who} held a connection for {closed_at - began_at:.3f} s"
