"""No statement of the service examines more because the tables have more rows.

All that the service does is done with few rows and with many, and what each statement
examines is compared. So an index shows that is used by too short a prefix.
"""

import gc
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from flask import Flask, request, request_started
from werkzeug.test import TestResponse

from petstore.extensions.dashboard import listing
from petstore.extensions.dashboard.models import Upload
from petstore.extensions.hosting.models import Domain
from petstore.extensions.sheets.models import Import
from petstore.models import flush_queues, orders, pets, retentions
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.quotas import database as quotas
from petstore.storage import counters, db
from petstore.storage.engine import CompiledQuery
from petstore.upkeep import housekeeping
from tests.extensions.hosting.fixtures import BASE, NAME
from tests.harness.browser import Browser, shown_choices
from tests.harness.clocks import Clock
from tests.harness.costs import VALUES, Cost, measured
from tests.harness.databases import each_engine
from tests.harness.dns_server import DnsServer
from tests.harness.statements import recorded
from tests.together.filling import fill

database_url = each_engine
FIRST, FEW, MANY = 1_000, 1_000, 10_000
# The numbers of rows; what the service itself adds gets those between them.
NUMBERS = (FIRST, FIRST + FEW), (10 * FIRST, 10 * FIRST + MANY)
BOUND = 50  # of what is bounded by a number, so that few rows reach it
MOST_STATEMENTS = 10  # of a page
SLACK = 100  # an index grows by a level, a page is fuller

# Statements that examine more, by a part of them, and why. None is of a request to the
# API. Commands, migrations, copies and backups are not measured.
ALLOWED = {
    '."looked_ms", "': "finds a domain due for a check",
    'COUNT("t1"."certificate_fault")': "summarises all certificates for /metrics",
    'GROUP BY "t1"."day"': "sums the keys of a project, some 200 at most",
}
# Endpoints without a statement.
FILES = {"dashboard.static", "docs.static", "favicon", "shared.static"}


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    """The settings, with host routing on."""
    return environ | host_settings


class Stage:
    """A project whose members use all that the service has."""

    def __init__(
        self, app: Flask, project: Project, clock: Clock, nameserver: DnsServer
    ) -> None:
        self.app = app
        self.project = project
        self.clock = clock
        self.nameserver = nameserver
        self.number = 0

    def send(self, method: str, path: str, **options: Any) -> TestResponse:
        """Send a request with the project's key."""
        headers = {"Authorization": f"Bearer {self.key}"} | options.pop("headers", {})
        answer = self.app.test_client().open(
            path, method=method, headers=headers, base_url=f"http://{BASE}", **options
        )
        assert answer.status_code < 500, answer.text
        return answer

    def use_everything(self) -> None:
        """Do all that clients, members and the background do."""
        self.number += 1
        self._leave_outdated_rows()
        self.key = Key.issue(self.project)
        self.browser = Browser(self.app, self.key)
        for use in (
            self._use_pets,
            self._use_orders,
            self._use_categories,
            self._use_files,
            self._be_refused,
            self._use_pages,
            self._use_keys,
            self._use_sessions,
            self._use_domains,
            self._work_in_the_background,
        ):
            use()
            self.clock.move(seconds=60)

    def _leave_outdated_rows(self) -> None:
        """Leave a row for each sweep."""
        for kept in retentions:
            if kept.age is Upload.at_ms:  # one old row misleads PostgreSQL's planner
                continue
            table, database = kept.model, kept.model._meta.database
            key = database.row_id(table)
            one = database.is_among(key, table.select(*key).limit(1))
            age = Key.revoked_ms if table is Key else kept.age
            table.update({age: 1}).where(one).execute()

    def _use_pets(self) -> None:
        both = "&categoryId=7&status=sold"
        for each in ("", "&status=sold", "&status=pending", "&categoryId=7", both):
            self._list("/v1/pets", each)
        rex = {"name": "Rex", "categoryId": 7}
        once = {"Idempotency-Key": str(self.number)}
        for _ in range(2):  # the second one gets the first answer again
            self.send("POST", "/v1/pets", json=rex, headers=once)
        self.send("POST", "/v1/pets", json=rex | {"categoryId": 10**6 + self.number})
        for number in (self._add(), 10**9):
            path = f"/v1/pets/{number}"
            name, category = {"name": "Max"}, {"categoryId": 10**8}
            status, every = {"status": "sold"}, {"name": "Max", "categoryId": 7}
            for changes in (name, category, status, every, every | status):
                self.send("PATCH", path, json=changes)
            for method in ("GET", "DELETE", "GET"):
                self.send(method, path)

    def _use_orders(self) -> None:
        for each in ("", "&status=placed", "&petId=1", "&status=cancelled&petId=1"):
            self._list("/v1/store/orders", each)
        for status in ("completed", "cancelled"):
            path = f"/v1/store/orders/{self._order()}"
            reference, end = {"reference": "Ms Lovelace"}, {"status": status}
            for method in ("GET", "DELETE"):  # the second one is too early
                self.send(method, path)
            for _ in range(2):  # the second one is too late
                for changes in (reference, reference | end, end):
                    self.send("PATCH", path, json=changes)
            self.send("DELETE", path)
        self.send("POST", "/v1/store/orders", json={"petId": 10**9})

    def _use_categories(self) -> None:
        self._list("/v1/categories")
        for number in (7, 10**7 + self.number):
            self.send("PUT", f"/v1/categories/{number}", json={"name": "Dogs"})
            for method in ("GET", "DELETE"):
                self.send(method, f"/v1/categories/{number}")

    def _list(self, path: str, filters: str = "") -> None:
        for after in (0, FIRST, FIRST + FEW // 2, 10 * FIRST + MANY // 2):
            self.send("GET", f"{path}?limit=20&after={after}{filters}")

    def _add(self) -> int:
        rex = {"name": "Rex", "categoryId": 7}
        return self.send("POST", "/v1/pets", json=rex).json["id"]

    def _order(self) -> int:
        pet = {"petId": self._add()}
        order = self.send("POST", "/v1/store/orders", json=pet).json["id"]
        self.send("POST", "/v1/store/orders", json=pet)  # too late
        return order

    def _use_files(self) -> None:
        lines = f"Rex,x2,\nTom,7,\nMimi,new {self.number},\nBo,,{FIRST}\n"
        question = self.browser.upload(f"name,category,id\n{lines}").location
        self._open(question)
        shown = shown_choices(self.browser.get(question).text)
        self._submit(question, **(shown | {"id": "id", "again": "yes"}))
        self._submit(question, **shown_choices(self.browser.get(question).text))
        [latest, *_] = Import.recent(self.project.id)
        self._submit(f"/dashboard/animals/imports/{latest.id}/take-back")
        for each in ("animals.csv", "orders.csv", "animals/import"):
            answer = self.browser.client.get(
                f"/dashboard/{each}", **self.browser.options, buffered=False
            )
            # The first rows: to read on would take a while.
            assert next(answer.iter_encoded())

    def _be_refused(self) -> None:
        poor = Project.add("Poor", None, Plan("enterprise", 1, 10**6))
        keys = Key.issue(poor), Key.issue(poor)
        for _ in range(13):  # until the key is banned
            self.send("GET", "/v1/pets", headers={"Authorization": f"Bearer {keys[0]}"})
            self.clock.move(seconds=1)
        Key.find_by_prefix(keys[0][:16]).unban()
        Key.find_by_prefix(keys[1][:16]).revoke()
        for key in (keys[1], "pet_wrong"):
            self.send("GET", "/v1/pets", headers={"Authorization": f"Bearer {key}"})

    def _use_pages(self) -> None:
        animals, rex = "/dashboard/animals", {"name": "Rex", "categoryId": "7"}
        middle = f"after={FIRST + FEW // 2}"
        filters = ("", "status=sold", "category=7", "name=x1", "name=%2312")
        filters += ("status=sold&category=7", "name=x1&status=sold", "name=12")
        filters += ("sort=name", "sort=name&category=7", "sort=name&name=x1")
        for each in filters:
            for part in ("", middle, "last=1"):
                self._open(f"{animals}?{each}&{part}".rstrip("&").replace("?&", "?"))
        searches = ("?name=x1", "?name=%2312", "?name=x1&status=placed")
        for each in ("", "?status=placed", f"?{middle}", *searches):
            self._open(f"/dashboard/orders{each}")
        pages = ("", "/categories", "/activity", "/activity?last=1")
        for each in (
            *pages,
            "/usage",
            "/requests",
            "/requests?id=x1",
            "/requests?last=1",
        ):
            self._open(f"/dashboard{each}")
        self._submit(animals, **rex)
        kind = {"categoryId": "Kind", "idempotency_key": f"{self.number}"}
        for changed in (kind, {"categoryId": f"New {self.number}"}):
            self._submit(animals, **rex | changed)
        categories = "/dashboard/categories"
        self._submit(categories, name=f"Sort {self.number}")
        self._submit(f"{categories}/7", name=f"Race {self.number}")
        self._submit(f"{categories}/7/delete")
        source, target = f"{9_000 + self.number}", f"{8_000 + self.number}"
        for each in (source, target):
            self.send("PUT", f"/v1/categories/{each}", json={"name": each})
            self._submit(animals, name="Kim", categoryId=each)
        self._submit(f"{categories}/{source}/merge", into=target)
        for deed in ("complete", "cancel"):
            path = f"/dashboard/orders/{self._order()}"
            self._open(path)
            self._submit(path, reference="Ms Lovelace")
            for each in (deed, "reopen", deed, "delete"):
                self._submit(f"{path}/{each}")
        for deed in ("order", "withdraw"):
            path = f"{animals}/{self._add()}"
            self._open(path)
            self._submit(path, name="Max", categoryId="Kind")
            self._submit(f"{path}/{deed}")
        self._change_many(f"{animals}/many", f"{self._add()}")
        self._open(f"{animals}/again")

    def _change_many(self, many: str, pet: str) -> None:
        for what in ("status.sold", "category.7", "remove"):
            fields = {"tick.what": what, "tick.all": pet}
            for path in (many, f"{many}/change"):
                self._submit(path, **fields)
            if what != "remove":
                was = {"tick.what": what.partition(".")[0], "tick.was": f"{pet}.1.7"}
                self._submit(f"{many}/back", **was)

    def _open(self, path: str) -> None:
        with recorded() as statements:
            answer = self.browser.get(path)
        assert answer.status_code == 200, (path, answer.text)
        gists = [each.gist for each in statements]
        if "/import/" not in path:  # a file is read in parts
            assert len(gists) <= MOST_STATEMENTS, (path, gists)

    def _submit(self, path: str, **fields: Any) -> None:
        answer = self.browser.submit(path, **fields)
        assert answer.status_code < 400, (path, answer.text)

    def _use_keys(self) -> None:
        keys = "/dashboard/keys"
        self._submit(keys, label="Website")
        for deed in ("rotate", "revoke", "unban"):
            prefix = Key.issue(self.project)[:16]
            self._open(f"{keys}/{prefix}")
            self._submit(f"{keys}/{prefix}", label="Website")
            self._submit(f"{keys}/{prefix}/{deed}")
        for status in ("working", "ended"):
            self._open(f"{keys}?status={status}")

    def _use_sessions(self) -> None:
        sessions = "/dashboard/sessions"
        Browser(self.app, self.key).submit("/dashboard/sign-out")
        self._open("/dashboard/sign-in")
        self.clock.move(seconds=60)  # so that the next page is noted
        Browser(self.app, self.key)
        paths = re.findall('action="([^"]+/end)"', self.browser.get(sessions).text)
        self._submit(paths[0])
        Browser(self.app, self.key)
        self._submit(f"{sessions}/end-others")

    def _use_domains(self) -> None:
        domains, name = "/dashboard/settings/domains", f"{self.number}-{NAME}"
        self.nameserver.put(name, "CNAME", f"{self.project.slug}.{BASE}")
        self._open(domains)
        self._submit(domains, name=name)
        domain = Domain.get(Domain.project == self.project, Domain.name == name)
        for deed in ("verify", "primary"):
            self._open(f"{domains}/{domain.id}")
            self._submit(f"{domains}/{domain.id}/{deed}")
        for host in (name, f"{self.project.slug}.{BASE}", f"x{FIRST}.{BASE}"):
            self.app.test_client().get("/v1/pets", base_url=f"http://{host}")
            self.app.test_client().get(f"/internal/tls-allowed?domain={host}")
        Domain.update(checked_ms=1).where(Domain.id == domain.id).execute()
        self.app.extensions["verifier"].recheck_due()
        self._submit(f"{domains}/{domain.id}/remove", key=self.key)

    def _work_in_the_background(self) -> None:
        flush_queues()
        housekeeping.delete_outdated()
        for path in ("/", "/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"):
            self.app.test_client().get(path)


@pytest.fixture
def stage(
    app: Flask,
    project: Project,
    clock: Clock,
    nameserver: DnsServer,
    monkeypatch: pytest.MonkeyPatch,
    set_limits: Callable[..., None],
) -> Stage:
    """A service in which what is bounded by a number is soon as large as it may be."""
    monkeypatch.setattr(listing, "MAX_COUNTED", BOUND)
    for made in (pets._correct, orders._change, quotas._upsert, quotas._select):
        made._compiled.clear()  # of what other tests have changed
    # For 100 of 11,000 keys, PostgreSQL rightly reads all.
    monkeypatch.setattr("petstore.models.keys.MAX_ENDED_KEYS", BOUND)
    set_limits(exported_rows=BOUND)
    return Stage(app, project, clock, nameserver)


@pytest.fixture
def refresh(request: pytest.FixtureRequest, database_url: str) -> Callable[[], None]:
    """A function that tells PostgreSQL what its tables hold, as it finds out itself."""
    if database_url.startswith("sqlite"):
        return lambda: None
    connection: psycopg.Connection = request.getfixturevalue("postgresql")
    return lambda: connection.execute("VACUUM ANALYZE") and None


def dearest(costs: list[Cost]) -> dict[str, int]:
    """Return the most that each statement has examined."""
    found: dict[str, int] = defaultdict(int)
    for cost in costs:
        found[cost.pattern] = max(found[cost.pattern], cost.examined)
    return found


def measurements(stage: Stage, refresh: Callable[[], None]) -> list[dict[str, int]]:
    """Return what each statement has examined with few rows, and with many."""
    measurements, seen = [], set()
    with request_started.connected_to(lambda _: seen.add(request.endpoint), stage.app):
        for numbers in NUMBERS:
            fill(stage.project, *numbers)
            stage.use_everything()  # connects, and makes what is made once
            refresh()
            stage.clock.move(seconds=3600)  # so that each window begins anew
            with measured() as costs:
                stage.use_everything()
            measurements.append(dearest(costs))
    endpoints = {rule.endpoint for rule in stage.app.url_map.iter_rules()}
    assert endpoints - FILES <= seen, "not used by this test"
    return measurements


def test_no_statement_examines_more_in_larger_tables(
    stage: Stage, refresh: Callable[[], None]
):
    few, many = measurements(stage, refresh)
    dearer = {
        sql: (few.get(sql, 0), count)
        for sql, count in many.items()
        if count > 2 * few.get(sql, 0) + SLACK
        and not any(part in sql for part in ALLOWED)
    }
    assert not dearer, "\n".join(f"{pair} {sql}" for sql, pair in dearer.items())
    if db.file:
        kinds = {type(database.obj) for database in (db, counters)}
        made = [each for each in gc.get_objects() if type(each) is CompiledQuery]
        assert all(each._compiled for each in made)
        built = {
            compiled.sql
            for each in made
            for (kind, _), compiled in each._compiled.items()
            if kind in kinds
        }
        assert not [sql for sql in built if VALUES.sub("?", sql) not in many]
