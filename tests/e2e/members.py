"""A person whose browser, without JavaScript, reaches several hosts behind TLS."""

import re
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from tests.harness.clients import TIMEOUT_SECONDS

FORM = "application/x-www-form-urlencoded"
SIGN_IN = "/sign-in"
TOKEN = re.compile('name="csrf_token" value="([^"]+)"')  # of release 1.1.0


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
        self._host = host
        self.cookies: dict[str, str] = {}

    def get(self, url: str, path: str) -> Page:
        """Open a page of the dashboard at one of the hosts, and follow redirections."""
        return self._ask(url, "GET", f"/dashboard{path}")

    def submit(self, url: str, path: str, *, on: str, **fields: str) -> Page:
        """Send a form of the page `on` to a host, and follow redirections."""
        if token := TOKEN.search(self.get(url, on).text):
            fields |= {"csrf_token": token[1]}
        return self._ask(url, "POST", f"/dashboard{path}", urlencode(fields))

    def sign_in(self, url: str, key: str) -> Page:
        """Sign in with a key."""
        return self.submit(url, SIGN_IN, on=SIGN_IN, key=key)

    def _ask(self, url: str, method: str, path: str, body: str = "") -> Page:
        origin = f"https://{self._host}"
        headers = {
            "Host": self._host,
            "Referer": f"{origin}/dashboard",
            "X-Forwarded-For": "192.0.2.7",
            "X-Forwarded-Proto": "https",
            "Cookie": "; ".join(
                f"{name}={self.cookies[name]}" for name in self.cookies
            ),
        }
        if method == "POST":
            headers |= {"Content-Type": FORM, "Origin": origin}
        connection = HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, path, body or None, headers)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        for line in response.headers.get_all("Set-Cookie", []):
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.value
        if response.status == 303:
            to = urlsplit(response.headers["Location"])
            return self._ask(url, "GET", f"{to.path}?{to.query}".removesuffix("?"))
        return Page(path, response.status, text)
