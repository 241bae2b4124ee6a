"""A browser without JavaScript that visits a running service over the network."""

from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener


class Visitor:
    """A browser that is signed in with a key."""

    def __init__(self, url: str, key: str) -> None:
        self._url = f"{url}/dashboard"
        self._cookies = HTTPCookieProcessor()
        self._opener = build_opener(self._cookies)
        self.submit("/sign-in", key=key)

    @property
    def cookie(self) -> str:
        """The header with which the browser shows that it is signed in."""
        return "; ".join(
            f"{each.name}={each.value}" for each in self._cookies.cookiejar
        )

    def get(self, path: str) -> str:
        """Return a page of the dashboard."""
        return self._opener.open(self._url + path).read().decode()

    def submit(self, path: str, **fields: str) -> str:
        """Submit a form, and return the page that follows."""
        content = urlencode(fields).encode()
        return self._opener.open(self._url + path, content).read().decode()
