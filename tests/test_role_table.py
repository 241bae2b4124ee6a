"""Each operation and each page by the role of a key, tried over HTTP.

docs/roles.md shows the table that this test finds.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import (
    HTTPCookieProcessor,
    HTTPRedirectHandler,
    Request,
    build_opener,
)

import pytest
from werkzeug.routing import Rule
from werkzeug.test import EnvironBuilder

from petstore import create_app
from petstore.models.domains import Domain
from petstore.models.grants import ROLES, Grant
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases
from tests.harness.clients import Client
from tests.harness.documents import rows_of
from tests.harness.host_fixtures import BASE
from tests.harness.servers import free_port
from tests.harness.services import AMPLE, Service, serving

SERVED, REFUSED, HIDDEN = "2xx", "403", "hidden"
SIGN_IN = "/dashboard/sign-in"
REX = {"name": "Rex", "categoryId": 7}
# What is sent, by the endpoint; nothing to any other.
MEMBERS: dict[str, Any] = {
    "pets.create_pet": REX,
    "pets.update_pet": REX,
    "orders.create_order": lambda world: {"petId": world.pet()},
    "orders.update_order": {"status": "completed"},
    "categories.put_category": {"name": "Dogs"},
    "dashboard_pets.add_animal": REX,
    "sheets.upload": lambda _: {"file": (BytesIO(b"name,category\nRex,7\n"), "x.csv")},
    "dashboard_pets.correct_animal": {"categoryId": "8", "name": "Cats"},
    "dashboard_categories.add_category": {"categoryId": "8", "name": "Cats"},
    "dashboard_categories.rename_category": {"name": "Dogs"},
    "domains.add_domain": {"name": "cats.example.org"},
    "domains.remove_domain": lambda world: {"key": world.key},
}


class NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Let a redirect be the answer."""


class Visitor:
    """A browser that tries to sign in with a key, and follows no redirect."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._opener = build_opener(HTTPCookieProcessor(), NoRedirects())
        self.signed_in, _ = self.post(SIGN_IN, {"key": key})

    def get(self, path: str) -> tuple[str, str]:
        """Return the outcome and the page."""
        return self._open(path, None)

    def post(self, path: str, fields: dict) -> tuple[str, str]:
        """Submit a form."""
        if "file" not in fields:
            return self._open(path, urlencode(fields).encode())
        form = EnvironBuilder(method="POST", data=fields)
        with form.get_request() as request:
            content, kind = request.get_data(), request.content_type
        return self._open(path, content, **{"Content-Type": kind})

    def _open(
        self, path: str, content: bytes | None, **headers: str
    ) -> tuple[str, str]:
        try:
            request = Request(self._url + path, content, {"Host": BASE} | headers)
            with self._opener.open(request) as answer:
                return outcome_of(answer.status), answer.read().decode()
        except HTTPError as error:
            with error:
                is_public = error.headers.get("Location", "").startswith(SIGN_IN)
                outcome = HIDDEN if is_public else outcome_of(error.status)
                return outcome, error.read().decode()


def outcome_of(status: int) -> str:
    """Return what a status stands for; a form that was accepted redirects.

    A conflict is met by who is allowed alone.
    """
    return SERVED if status < 300 or status in (303, 409) else str(status)


class World:
    """A running service with a project for each role, and what its routes name."""

    def __init__(self, service: Service, role: str) -> None:
        self.project = Project.add(role.capitalize(), None, AMPLE)
        self.key = Key.issue(self.project, Grant(role))
        self._url, self._numbers = service.url, itertools.count()
        self.visitor = Visitor(service.url, self.key)
        self._made: dict[str, Callable[[], object]] = {
            "pet_id": self.pet,
            "order_id": lambda: Order.place(self.project.id, self.pet()).id,
            "category_id": lambda: Pet.find(self.project.id, self.pet()).category_id,
            "prefix": lambda: Key.issue(self.project)[:16],
            "name": self._session,
            "domain_id": self._domain,
            "file": lambda: "x",
        }

    def pet(self) -> int:
        """Return the id of a new animal."""
        return Pet.add(
            self.project.id, name="Rex", category_id=7, status="available"
        ).id

    def try_out(self, rule: Rule, method: str) -> str:
        """Send a request that a key of the full role would be served."""
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda m: str(self._made[m[1]]()), rule.rule)
        members = MEMBERS.get(rule.endpoint, {})
        members = members(self) if callable(members) else members
        if path.startswith("/v1/"):
            with Client(self._url, self.key) as client:
                answer = client.send(method, path, members or None, Host=BASE)
            return outcome_of(answer.status)
        if method == "GET":
            return self.visitor.get(path)[0]
        return self.visitor.post(path, members)[0]

    def _domain(self) -> int:
        name = f"shop{next(self._numbers)}.example.org"
        return Domain.add(self.project, name).id

    def _session(self) -> str:
        """Return the name of another session, which only full keys can know."""
        Visitor(self._url, Key.issue(self.project))
        page = self.visitor.get("/dashboard/sessions")[1]
        found = re.search("/dashboard/sessions/([0-9a-f]+)/end", page)
        return found[1] if found else "0123456789abcdef"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def service(
    request: pytest.FixtureRequest,
    new_database: Callable[[str], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """The running service, on each engine."""
    environ = {
        "DATABASE_URL": new_database(request.param),
        "WEB_CONCURRENCY": "2",
        "PETSTORE_BASE_DOMAIN": BASE,
        "PETSTORE_DNS_SERVERS": f"127.0.0.1:{free_port()}",  # where nothing answers
    }
    with serving(tmp_path_factory.mktemp("service"), environ) as service:
        open_databases(read_settings(environ))
        yield service
        databases.close()


@pytest.fixture(scope="module")
def routes(service: Service) -> list[tuple[Rule, str]]:
    """Each operation and each page that is not public, with its method."""
    rules = create_app(read_settings(service.gunicorn.environ)).url_map.iter_rules()
    return [
        (rule, method)
        for rule in sorted(rules, key=lambda rule: rule.rule)
        for method in sorted(rule.methods - {"HEAD", "OPTIONS"})
        if rule.rule.startswith(("/v1/", "/dashboard"))
        and rule.endpoint != "dashboard.static"
        and not rule.rule.startswith("/dashboard/sign-")
    ]


def named(rule: Rule, method: str) -> str:
    """Return an operation or a page as docs/roles.md names it."""
    path = re.sub("<(?:id:)?([a-z_]+)>", r"{\1}", rule.rule)
    return f"`{method} {path}`"


def test_each_operation_and_page_is_allowed_to_the_documented_roles(
    service: Service, routes: list[tuple[Rule, str]]
):
    found = {"`POST /dashboard/sign-in`": []} | {named(*route): [] for route in routes}
    for role in ROLES:
        world = World(service, role)
        found["`POST /dashboard/sign-in`"].append(world.visitor.signed_in)
        outcomes = [world.try_out(*route) for route in routes]
        offered = links_of(world, [r for r, method in routes if method == "GET"])
        for (rule, method), outcome in zip(routes, outcomes, strict=True):
            is_page = rule.rule.startswith("/dashboard")
            if is_page and outcome == REFUSED and not is_offered(rule, offered):
                outcome = HIDDEN
            found[named(rule, method)].append(outcome)
    rows = rows_by_noun(found)
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    assert rows_of("roles.md", "Operations and pages") == rows, table


def rows_by_noun(found: dict[str, list[str]]) -> list[list[str]]:
    """Return a row for what begins with the same two segments and ends the same."""
    names: dict[tuple[str, ...], list[str]] = {}
    for name, cells in found.items():
        noun = re.search("(?:/[^/.`]+){1,2}", name)[0]
        names.setdefault((noun, *cells), []).append(name)
    return [[" ".join(names[row]), *row[1:]] for row in names]


def links_of(world: World, rules: list[Rule]) -> set[str]:
    """Return where the links and forms of all pages lead that the key may open."""
    if world.visitor.signed_in != SERVED:
        return set()
    paths = [rule.rule for rule in rules if not rule.arguments]
    pages = [world.visitor.get(path)[1] for path in paths if "/v1/" not in path]
    return {
        link for page in pages for link in re.findall('(?:href|action)="([^"]+)', page)
    }


def is_offered(rule: Rule, links: set[str]) -> bool:
    """Return whether a link or a form leads to the rule."""
    pattern = re.sub("<[^>]+>", "[^/?]+", rule.rule) + r"(\?.*)?"
    return any(re.fullmatch(pattern, link) for link in links)
