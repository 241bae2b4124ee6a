"""A project on a running service, and its clients, which can race."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.clients import ORDERS, Answer, Client
from tests.harness.crowds import at_once
from tests.harness.servers import Gunicorn
from tests.harness.services import AMPLE


@dataclass
class Shop:
    """A project on a running service, and its clients."""

    server: Gunicorn
    key: str
    clients: list[Client] = field(default_factory=list)

    @classmethod
    def open(cls, server: Gunicorn) -> "Shop":
        """Create a project on the server, with unlimited quota."""
        return cls(server, Key.issue(Project.add("Shop", None, AMPLE)))

    def client(self) -> Client:
        """Return a new client of the project."""
        self.clients.append(Client(self.server.url, self.key))
        return self.clients[-1]

    def close(self) -> None:
        """Close all clients."""
        for client in self.clients:
            client.close()

    def orders_of(self, pet: int) -> list[dict]:
        """Return all orders of an animal."""
        orders = self.client().all_of(ORDERS)
        return [order for order in orders if order["petId"] == pet]

    def status_of(self, pet: int) -> str:
        """Return the status of an animal."""
        return self.client().send("GET", f"/v1/pets/{pet}").json["status"]


def race(clients: list[Client], send: Callable[[int, Client], Answer]) -> list[Any]:
    """Call `send` with all clients at the same moment; return the sorted outcomes."""
    for client in clients:
        client.renew()
    answers = at_once(lambda each: send(*each), enumerate(clients))
    return sorted((answer.outcome for answer in answers), key=str)
