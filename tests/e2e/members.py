"""A person whose browser, without JavaScript, reaches several hosts behind TLS."""

from typing import NamedTuple
from urllib.parse import urlsplit

import requests

SIGN_IN = "/sign-in"


class Page(NamedTuple):
    """A page of the dashboard: where it is after redirections, and what it says."""

    path: str
    status: int
    text: str

    @property
    def is_signed_in(self) -> bool:
        """Whether it is no page that asks to sign in."""
        return not self.path.startswith(f"/dashboard{SIGN_IN}")

    @property
    def is_open(self) -> bool:
        """Whether it is what somebody sees who is signed in."""
        return self.status == 200 and self.is_signed_in


class Member:
    """A browser with cookies, to which all hosts are the same one."""

    def __init__(self, host: str) -> None:
        self._session = requests.Session()
        self._session.headers.update(
            {
                "Host": host,
                "Origin": f"https://{host}",
                "Referer": f"https://{host}/dashboard",
                "X-Forwarded-For": "192.0.2.7",
                "X-Forwarded-Proto": "https",
            }
        )

    def get(self, url: str, path: str) -> Page:
        """Open a page of the dashboard at one of the hosts, and follow redirections."""
        return self._ask("GET", url, f"/dashboard{path}")

    def submit(self, url: str, path: str, **fields: str) -> Page:
        """Send a form to one of the hosts, and follow redirections."""
        return self._ask("POST", url, f"/dashboard{path}", fields)

    def sign_in(self, url: str, key: str) -> Page:
        return self.submit(url, SIGN_IN, key=key)

    def _ask(
        self, method: str, url: str, path: str, fields: dict[str, str] | None = None
    ) -> Page:
        answer = self._session.request(
            method, url + path, data=fields, allow_redirects=False
        )
        for cookie in self._session.cookies:
            cookie.secure = False  # the hosts are reached without TLS
        if answer.status_code == 303:
            to = urlsplit(answer.headers["Location"])
            return self._ask("GET", url, to._replace(scheme="", netloc="").geturl())
        return Page(path, answer.status_code, answer.text)
