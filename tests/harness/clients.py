"""An HTTP client for a running service."""

import json
import select
import time
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPMessage
from math import inf
from typing import Any, Self
from urllib.parse import urlsplit

PETS = "/v1/pets"
ORDERS = "/v1/store/orders"
TIMEOUT_SECONDS = 60
PAGE = 100


@dataclass(frozen=True)
class Answer:
    """A response and its times; `status` is None if the connection failed."""

    status: int | None = None
    headers: HTTPMessage = field(default_factory=HTTPMessage)
    content: bytes = b""
    sent_at: float = 0
    received_at: float = inf

    @cached_property
    def json(self) -> Any:
        """The body, parsed as JSON; None if it is empty."""
        return json.loads(self.content) if self.content else None

    @property
    def is_served(self) -> bool:
        """Whether the status is 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def outcome(self) -> int | str | None:
        """The code of an Error response, otherwise the status."""
        is_error = self.status is not None and self.status >= 400
        return self.json["code"] if is_error else self.status

    @property
    def seconds(self) -> float:
        """The response time in seconds."""
        return self.received_at - self.sent_at

    @property
    def day_left(self) -> int:
        """The number of requests left today, from the RateLimit header."""
        rate_limit = self.headers["RateLimit"]
        return int(rate_limit.partition('"day";r=')[2].partition(";")[0])


class Client:
    """A client with one persistent connection, reopened when it breaks.

    As a context manager, it closes the connection on exit.
    """

    def __init__(self, url: str, key: str) -> None:
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT_SECONDS)
        self._headers = {"Authorization": f"Bearer {key}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def renew(self) -> None:
        """Reconnect, as an idle connection may be closed just when it is reused."""
        self.close()
        self._connection.connect()

    def get(self, path: str = PETS, **headers: str) -> Answer:
        """Send a GET request."""
        return self.send("GET", path, **headers)

    def post(self, body: object, path: str = PETS, **headers: str) -> Answer:
        """Send a POST request, by default to create a pet."""
        return self.send("POST", path, body, **headers)

    def send(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> Answer:
        """Send a request; underscores in header names become hyphens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        self._leave_if_left()
        sent_at, content = time.monotonic(), None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, content, self._headers | sent)
            response = self._connection.getresponse()
            received = response.read()
        except (OSError, HTTPException):
            self.close()
            return Answer(sent_at=sent_at)
        now = time.monotonic()
        return Answer(response.status, response.headers, received, sent_at, now)

    def _leave_if_left(self) -> None:
        # The server may close the connection between two requests.
        socket = self._connection.sock
        if socket and select.select([socket], [], [], 0)[0]:
            self.close()

    def add_pets(self, count: int) -> list[int]:
        """Add pets and return the ids of those that the service created."""
        pet = {"name": "Rex", "categoryId": 7}
        answers = [self.post(pet) for _ in range(count)]
        return [answer.json["id"] for answer in answers if answer.status == 201]

    def all_of(self, path: str, after: int = 0) -> list[dict]:
        """Return all items of a list after an id, fetched page by page."""
        rows: list[dict] = []
        while True:
            after = rows[-1]["id"] if rows else after
            page = self.get(f"{path}?limit={PAGE}&after={after}").json
            rows += page
            if len(page) < PAGE:
                return rows
