"""A browser without JavaScript that visits a running service over the network."""

from typing import Any
from urllib.parse import urlsplit

import requests

from tests.harness.form_keys import form_key


class Visitor:
    """A browser that is signed in with a key."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._session = f"{url}/dashboard", requests.Session()
        self.submit("/sign-in", key=key)

    @property
    def cookie(self) -> str:
        """The header with which the browser shows that it is signed in."""
        return "; ".join(
            f"{name}={text}" for name, text in self._session.cookies.items()
        )

    def get(self, path: str) -> str:
        """Return a page of the dashboard."""
        return self.open(path).text

    def open(self, path: str) -> requests.Response:
        """Open a page of the dashboard."""
        return self._session.get(self._url + path)

    def upload(self, content: str) -> str:
        """Choose a file with animals, and return the path of the question about it."""
        return urlsplit(self.send_file(content).url).path

    def send_file(self, content: str) -> requests.Response:
        """Choose a file with animals, and return the page that follows."""
        file = {"file": ("x.csv", content)}
        return self._post("/animals/import", {}, files=file)

    def submit(self, path: str, **fields: str) -> requests.Response:
        """Submit a form, and return the page that follows."""
        return self._post(path, fields)

    def _post(
        self, path: str, fields: dict[str, str], **more: Any
    ) -> requests.Response:
        cookie = next(iter(self._session.cookies.values()), "")
        key = form_key(cookie, fields.get("idempotency_key", ""))
        fields = fields | {"idempotency_key": key}
        return self._session.post(self._url + path, data=fields, **more)
