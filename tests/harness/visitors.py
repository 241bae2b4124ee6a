"""A browser without JavaScript that visits a running service over the network."""

from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener


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

    def upload(self, content: str) -> str:
        """Choose a file with animals, and return the path of the question about it."""
        disposition = 'Content-Disposition: form-data; name="file"; filename="x.csv"'
        body = f"--x\r\n{disposition}\r\n\r\n{content}\r\n--x--\r\n"
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        request = Request(f"{self._url}/animals/import", body.encode(), kind)
        return urlsplit(self._opener.open(request).url).path

    def submit(self, path: str, **fields: str) -> str:
        """Submit a form, and return the page that follows."""
        content = urlencode(fields).encode()
        return self._opener.open(self._url + path, content).read().decode()
