"""What each kind of caller may do and sees, tried over HTTP and by commands.

roles.md beside this file shows the tables that this test finds. A new route, a new
member of a response, column of a page, metric, member of the log or command is a new
cell.
"""

import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from petstore.events import actor
from petstore.extensions.dashboard.histories import note
from petstore.extensions.dashboard.models import Session
from petstore.extensions.hosting.models import Domain
from petstore.extensions.monitoring.models import FailedRequest, failures
from petstore.extensions.sheets.models import Import
from petstore.models.callers import Caller
from petstore.models.grants import PUBLIC, ROLES, Grant
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from petstore.upkeep.projects import set_suspended
from tests.extensions.hosting.fixtures import BASE
from tests.harness.dns_server import DnsServer
from tests.harness.documents import commands_of, rows_of
from tests.harness.form_keys import form_key
from tests.harness.services import AMPLE

RIVAL, STRANGER, OPERATOR = "another project", "stranger", "operator"
SESSIONS = ("session of write", "session of full")
SUSPENDED = "suspended project"  # a full key of it, and its session
CALLERS = (*ROLES, *SESSIONS, SUSPENDED, STRANGER, RIVAL, OPERATOR)
YES, NO, OWN = "yes", "–", "own"
SIGN_IN, HERE = "/dashboard/sign-in", f"http://{BASE}"
LIMITS = Plan("enterprise", 54_321, 987_654)
REX = {"name": "Rex", "categoryId": 7}
REMOVE = {"tick.what": "remove"}
NAMED = {"categoryId": "Birds", "name": "Cats"}
# What is sent, by the endpoint; nothing to any other.
MEMBERS: dict[str, Any] = {
    "pets.create_pet": REX,
    "pets.update_pet": REX,
    "orders.create_order": lambda world: {"petId": world.pet()},
    "orders.update_order": {"status": "completed"},
    "categories.put_category": {"name": "Dogs"},
    "dashboard_pets.add_animal": REX | {"categoryId": "Birds"},
    "sheets.upload": lambda _: {"file": (BytesIO(b"name,category\nRex,7\n"), "x.csv")},
    "dashboard_pets.correct_animal": NAMED,
    "dashboard_many.ask": lambda world: {
        "tick.what": "remove",
        "tick.all": world.pet(),
    },
    "dashboard_many.change": lambda world: {
        "tick.what": "remove",
        "tick.all": world.pet(),
    },
    "dashboard_many.take_back": lambda world: {"tick.was": f"{world.pet()}.0.sold"},
    "dashboard_categories.add_category": {"name": "Cats"},
    "dashboard_categories.rename_category": {"name": "Dogs"},
    "domains.add_domain": {"name": "cats.example.org"},
    "domains.remove_domain": lambda world: {"key": world.key},
    "sign_in.enter": lambda world: {"key": world.key},
    "tls.tls_allowed": {"domain": BASE},
}
# What is looked for in all that a caller is answered.
FACTS = yaml.safe_load(Path(__file__).with_name("facts.yaml").read_text())
FAILURES = "what its key failed at, in Requests"
DESCRIBED = ("/v1", "/dashboard", "/metrics")  # where the fields of answers are cells


Found = dict[tuple[str, str], dict[str, str]]  # by place and name, cells of callers


class World:
    """A project with something of everything, and a caller of one kind."""

    def __init__(self, app: Flask, caller: str) -> None:
        self.caller, self._numbers = caller, count(1)
        self.project = Project.add("Arche", None, LIMITS)
        self.other_key = Key.issue(self.project, label="Till")
        own = Project.add("Rival", None, AMPLE) if caller == RIVAL else self.project
        role = "full" if caller in (RIVAL, SUSPENDED) else caller.rpartition(" ")[2]
        limits = (10_000, 10_000) if role == PUBLIC else ()
        self.key = Key.issue(own, Grant(role, *limits)) if role in ROLES else ""
        self.client, self.cookie, self.seen = app.test_client(), "", ""
        self.headers = {}
        if caller != OPERATOR:  # whose machine is not behind the proxy
            self.headers["X-Forwarded-For"] = "203.0.113.9"
        if self.key and caller not in SESSIONS:
            self.headers["Authorization"] = f"Bearer {self.key}"
        if caller in (*SESSIONS, SUSPENDED, RIVAL):
            self.ask("POST", SIGN_IN, {"key": self.key})
        Order.place(self.project.id, self.pet(), "Ms Mohr 0170")
        self._made: dict[str, Callable[[], object]] = {
            "pet_id": self.pet,
            "order_id": lambda: Order.place(self.project.id, self.pet()).id,
            "category_id": lambda: Pet.get_own(self.project.id, self.pet()).category_id,
            "prefix": lambda: Key.issue(self.project)[:16],
            "name": self._session,
            "domain_id": self._domain,
            "import_id": self._import,
            "file": lambda: "x",  # of nobody: only its uploader's session finds one
        }
        self._domain()
        if caller == SUSPENDED:
            set_suspended(self.project, True)
        failing = {"Authorization": f"Bearer {self.other_key}"}
        app.test_client().get("/v1/nothing", base_url=HERE, headers=failing)
        failures.flush()

    def facts(self) -> Iterator[str]:
        """Yield which of the facts its answers have told."""
        for fact, pattern in FACTS.items():
            if re.search(pattern.replace("PREFIX", self.other_key[:16]), self.seen):
                yield fact
        is_shown = FailedRequest.key_prefix == self.key[:16]
        is_shown &= FailedRequest.project == self.project
        if self.key and FailedRequest.select().where(is_shown).exists():
            yield FAILURES

    def pet(self) -> int:
        """Return the id of an animal that the other key has added on the dashboard."""
        members = {"name": "Rex", "category_id": 7, "status": "available"}
        token = actor.set(self.other_key[:16])
        pet = Pet.add(self.project.id, **members)
        note(self.project.slug, "Added Rex.", {"animal": pet.id})
        actor.reset(token)
        return pet.id

    def _import(self) -> int:
        """Return the id of an import that has added an animal."""
        self.pet()
        return Import.record(self.project.id, 1, []).id

    def try_out(self, rule: Rule, method: str) -> tuple[str, list[str]]:
        """Return what came of a request, and the fields that the answer shows."""
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda m: str(self._made[m[1]]()), rule.rule)
        members = MEMBERS.get(rule.endpoint)
        answer = self.ask(method, path, members(self) if callable(members) else members)
        if rule.endpoint == "sign_in.enter" and self.caller in ROLES:
            self.client = self.client.application.test_client()
        is_own = self.caller == RIVAL  # then the fields are those of its own project
        return self._cell(answer, path), [] if is_own else fields_of(answer, path)

    def ask(self, method: str, path: str, members: Any = None) -> TestResponse:
        """Send a request, and follow no redirect."""
        form = "query_string" if method == "GET" else "data"
        form = "json" if path.startswith("/v1") and method != "GET" else form
        if form == "data":
            members = (members or {}) | {"idempotency_key": form_key(self.cookie)}
        options = {"base_url": HERE, "headers": self.headers, form: members}
        answer = self.client.open(path, method=method, **options)
        if cookie := answer.headers.get("Set-Cookie"):
            self.cookie = cookie.partition("=")[2].partition(";")[0]
        shown = f"{answer.headers} {answer.data.decode(errors='replace')}"
        self.seen += shown.replace(self.key[:16] or " ", "")
        return answer

    def _cell(self, answer: TestResponse, path: str) -> str:
        if answer.headers.get("Location", "").startswith(SIGN_IN):
            return NO
        if answer.status_code >= 400 and answer.status_code != 409:
            return str(answer.status_code)  # a conflict is met by those who may
        is_rival = self.caller == RIVAL and path.startswith(DESCRIBED)
        return OWN if is_rival else YES

    def _session(self) -> str:
        token = Session.begin(Caller.find_by_key(Key.issue(self.project)))
        return Session.name_of(token)

    def _domain(self) -> int:
        name = f"shop{next(self._numbers)}.example.org"
        return Domain.add(self.project, name).id


def fields_of(answer: TestResponse, path: str) -> list[str]:
    """Return the members, columns or metrics that are named in what was served."""
    if not path.startswith(DESCRIBED) or answer.status_code >= 400:
        return []
    match answer.headers.get("Content-Type", "").partition(";")[0]:
        case "application/json":
            found = answer.json
            return [*([*found, {}][0] if isinstance(found, list) else found)]
        case "text/html":
            return re.findall(r'<(?:th scope="col"[^>]*|dt[^>]*)>([^<]+)<', answer.text)
        case "text/csv":
            return answer.text.split()[0].strip("\ufeff").split(",")
        case "text/plain":
            # Several workers have none of the times at which a metric was created.
            own = r"^# TYPE (petstore_\w+)(?<!_created) "
            return sorted(re.findall(own, answer.text, re.MULTILINE))
    return []


@pytest.fixture
def environ(environ: dict[str, str], nameserver: DnsServer) -> dict[str, str]:
    names = {"PETSTORE_DNS_SERVERS": str(nameserver.address)}
    return environ | names | {"PETSTORE_BASE_DOMAIN": BASE}


def test_what_each_caller_may_do_and_sees(app: Flask, capfd: pytest.CaptureFixture):
    done: Found = {}
    seen: Found = {}
    worlds = []
    for caller in CALLERS:
        worlds.append(world := World(app, caller))
        world.ask("GET", "/v1/nothing")
        for rule, method in routes(app):
            path = re.sub("<(?:id:)?([a-z_]+)>", r"{\1}", rule.rule)
            outcome, fields = world.try_out(rule, method)
            done.setdefault(("", f"`{method} {path}`"), {})[caller] = outcome
            place = re.sub("(/{[^}]+})?/?$", "", path)
            for field in fields:
                seen.setdefault((f"`{place}`", field), {})[caller] = YES
    failures.flush()
    for name in shown_to_operator(app, capfd.readouterr().out, world):
        seen.setdefault(name, {})[OPERATOR] = YES
    for world in worlds:
        for fact in world.facts():
            seen.setdefault(("", fact), {})[world.caller] = YES
    tables = {
        "Operations and pages": rows_of_cells(done),
        "Fields": rows_of_cells(seen),
    }
    found = {
        heading: rows_of("../tests/together/roles.md", heading) for heading in tables
    }
    assert found == tables, "\n".join(map(printed, tables.values()))


def routes(app: Flask) -> list[tuple[Rule, str]]:
    """Return each route with each of its methods, but files and signing out."""
    found = []
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        if "filename" not in rule.arguments and rule.endpoint != "sign_in.sign_out":
            methods = sorted(rule.methods - {"HEAD", "OPTIONS"})
            found += [(rule, method) for method in methods]
    return found


def shown_to_operator(app: Flask, log: str, world: World) -> Iterator[tuple[str, str]]:
    """Yield the commands, whose lists are read, and the members of the log."""
    runner = app.test_cli_runner()
    for name, command in commands_of(app.cli):
        yield "`flask`", name
        if any(option.name == "as_json" for option in command.params):
            world.seen += runner.invoke(args=[*name.split(), "--json"]).stdout
    world.seen += log
    line = [line for line in log.splitlines() if '"event":"request"' in line][-1]
    yield from (("the log of requests:", each) for each in json.loads(line))


def rows_of_cells(found: Found) -> list[list[str]]:
    """Return a row for all that has the same cells."""
    rows: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for (place, name), cells in found.items():
        row = tuple(cells.get(each, NO) for each in CALLERS)
        rows.setdefault(row, {}).setdefault(place, []).append(name)
    return [
        ["; ".join(f"{at} {', '.join(names[at])}".strip() for at in names), *row]
        for row, names in rows.items()
    ]


def printed(rows: list[list[str]]) -> str:
    """Return a table as roles.md has it."""
    return "\n".join(f"|{'|'.join(row)}|" for row in rows)
