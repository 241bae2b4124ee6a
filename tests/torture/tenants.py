"""The projects of a campaign: the victim, and the tenants that attack it."""

from dataclasses import dataclass
from typing import Any

import requests

from petstore.models.categories import Category, CategoryTable
from petstore.models.domains import DnsResult, Domain, DomainToken
from petstore.models.keys import Key
from petstore.models.orders import Order, OrderTable
from petstore.models.pets import Pet, PetTable
from petstore.models.projects import Project
from petstore.models.stored_responses import Attempt, StoredResponse
from petstore.storage.database import db
from tests.harness.services import AMPLE

SECRET = "Confidential"  # part of every text of the victim
DOMAIN = "shop.example.org"
BASE = "localhost"  # the base domain, at which the service listens
ROWS = 10
TIMEOUT_SECONDS = 30
Rows = dict[str, list[tuple]]


@dataclass(frozen=True)
class Victim:
    """A project with rows of every kind, and the identifiers that others may guess."""

    key: str
    project_id: int
    slug: str
    prefixes: list[str]
    pets: list[int]
    orders: list[int]
    domain: int

    @classmethod
    def create(cls) -> "Victim":
        """Create the project and its rows."""
        project = Project.add(f"{SECRET} shelter", "victim", AMPLE)
        keys = [Key.issue(project, label=f"{SECRET} {n}") for n in range(3)]
        pets = [
            Pet.add(
                project.id, name=f"{SECRET} {n}", category_id=n % 3, status="available"
            ).id
            for n in range(ROWS)
        ]
        orders = [Order.place(project.id, pet).id for pet in pets[: ROWS // 2]]
        Category.rename(project.id, 1, f"{SECRET} dogs")
        domain = Domain.add(project, DOMAIN)
        domain.record(DnsResult(True, "as it should be"), by_owner=True)
        with db.atomic():
            attempt = Attempt(project.id, "/v1/pets", "key-1", b"x")
            StoredResponse.keep(attempt, 201, None, b"{}")
        prefixes = [key[:16] for key in keys]
        return cls(keys[0], project.id, project.slug, prefixes, pets, orders, domain.id)

    def rows(self) -> Rows:
        """Return all its rows, without the times when its keys were last used."""
        fields = Key._meta.sorted_fields
        kept = [field for field in fields if field.name != "last_used_ms"]
        queries = {"project": Project.select().where(Project.id == self.project_id)}
        queries["key"] = Key.select(*kept).where(Key.project == self.project_id)
        for table in (
            PetTable,
            OrderTable,
            CategoryTable,
            Domain,
            DomainToken,
            StoredResponse,
        ):
            mine = table.select().where(table.project == self.project_id)
            queries[table.__name__] = mine
        return {
            name: sorted(query.tuples(), key=repr) for name, query in queries.items()
        }


class Tenant:
    """A project with a valid key and a session on the dashboard."""

    def __init__(self, url: str, name: str) -> None:
        self._url, self._name = url, name
        self._browser = requests.Session()
        self._client = requests.Session()
        self.begin()

    def begin(self) -> None:
        """Be a new project, with all its pages left, and sign in."""
        self.key = Key.issue(Project.add(self._name, None, AMPLE))
        self._client.headers["Authorization"] = f"Bearer {self.key}"
        self.sign_in()

    def close(self) -> None:
        """Close the connections."""
        self._browser.close()
        self._client.close()

    def sign_in(self) -> requests.Response:
        """Start a new session in place of the current one."""
        self._browser.cookies.clear()
        return self.send("/sign-in", key=self.key)

    @property
    def cookie(self) -> str:
        """The session cookie."""
        return self._browser.cookies.get("petstore_session", "")

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        """Send a request to the API."""
        return self._request(self._client, method, f"/v1{path}", **options)

    def see(self, path: str, **options: Any) -> requests.Response:
        """Open a page of the dashboard."""
        return self._request(self._browser, "GET", f"/dashboard{path}", **options)

    def see_with(self, cookie: str, path: str, host: str = BASE) -> requests.Response:
        """Open a page of the dashboard with the given cookie and host."""
        headers = {"Cookie": f"petstore_session={cookie}", "Host": host}
        with requests.Session() as stranger:
            return self._request(stranger, "GET", f"/dashboard{path}", headers=headers)

    def send(self, path: str, **fields: str) -> requests.Response:
        """Submit a form of the dashboard."""
        return self._request(self._browser, "POST", f"/dashboard{path}", data=fields)

    def _request(
        self, session: requests.Session, method: str, path: str, **options: Any
    ) -> requests.Response:
        return session.request(
            method,
            self._url + path,
            allow_redirects=False,
            timeout=TIMEOUT_SECONDS,
            **options,
        )
