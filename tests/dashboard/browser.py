"""A test client that acts as a browser without JavaScript: it submits forms."""

import re
from html import unescape
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
TAG = re.compile(r"<[^>]+>")


class Browser:
    def __init__(self, app: Flask, address: str = "127.0.0.1", **options: Any) -> None:
        self.client = app.test_client()
        self.client.environ_base["REMOTE_ADDR"] = address
        self.options = options

    def get(self, path: str) -> TestResponse:
        return self.client.get(path, **self.options)

    def submit(self, path: str, *, on: str, **fields: str) -> TestResponse:
        """Post a form to `path`, with the CSRF token of the page `on`."""
        token = TOKEN.search(self.get(on).text)[1]
        return self.post(path, csrf_token=token, **fields)

    def post(self, path: str, **fields: str) -> TestResponse:
        return self.client.post(path, data=fields, **self.options)

    def sign_in(self, key: str) -> TestResponse:
        return self.submit("/dashboard/sign-in", on="/dashboard/sign-in", key=key)


def words(page: TestResponse) -> str:
    """Return the visible text of a page, in one line."""
    return " ".join(unescape(TAG.sub(" ", page.text)).split())
