"""A test client that acts as a browser without JavaScript: it submits forms."""

import io
import re
from collections.abc import Iterable
from html import unescape
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from petstore.models.categories import Category
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.form_keys import form_key

TAG = re.compile(r"<[^>]+>")
SIGN_IN = "/dashboard/sign-in"
IMPORT = "/dashboard/animals/import"
COOKIE = "petstore_session"


class Browser:
    def __init__(
        self,
        app: Flask,
        key: str | None = None,
        *,
        address: str = "127.0.0.1",
        **options,
    ) -> None:
        """Sign in with a key, unless it is None."""
        self.client = app.test_client()
        self.client.environ_base["REMOTE_ADDR"] = address
        if base := app.config.get("BASE_DOMAIN"):  # pages are there alone
            options = {"base_url": f"http://{base}"} | options
        self.options: dict[str, Any] = options
        if key:
            assert self.sign_in(key).status_code == 303

    def get(self, path: str) -> TestResponse:
        return self.client.get(path, **self.options)

    def read(self, path: str) -> str:
        """Return the visible text of a page, in one line."""
        return words(self.get(path))

    def submit(self, path: str, **fields: Any) -> TestResponse:
        """Submit a form of a page that is shown to whoever is signed in now."""
        key = fields.get("idempotency_key", "")
        own = {"idempotency_key": form_key(self.cookie, key)}
        headers = {"Origin": self.origin, "Sec-Fetch-Site": "same-origin"}
        return self.client.post(
            path, data=fields | own, headers=headers, **self.options
        )

    def follow(self, path: str, **fields: Any) -> str:
        """Submit a form, and return the visible text of the page that it leads to."""
        answer = self.submit(path, **fields)
        return self.read(answer.location) if answer.location else words(answer)

    def upload(self, content: str | bytes, key: str = "") -> TestResponse:
        """Choose a file with animals, which leads to the question about it."""
        data = content.encode() if isinstance(content, str) else content
        file = io.BytesIO(data), "x.csv"
        return self.submit(IMPORT, file=file, idempotency_key=key)

    def import_file(self, content: str | bytes) -> TestResponse:
        """Choose a file with animals, and answer yes."""
        return self.answer(self.upload(content).location)

    def answer(self, question: str, **choices: str) -> TestResponse:
        """Submit the page about a file as it is shown, but for some choices.

        If that shows the page again, it is returned.
        """
        shown = shown_choices(self.get(question).text)
        return self.choose(question, **(shown | choices))

    def choose(self, question: str, **choices: str) -> TestResponse:
        """Submit choices for a file, and return the page if it is shown again."""
        answer = self.submit(question, **choices)
        page = self.get(question) if answer.location == question else answer
        return page if page.status_code == 200 else answer

    def sign_in(self, key: str) -> TestResponse:
        return self.submit(SIGN_IN, key=key)

    @property
    def cookie(self) -> str:
        """The value of the session's cookie, over plain HTTP."""
        found = self.client.get_cookie(COOKIE, self.domain, path="/dashboard")
        return found.value if found else ""

    @cookie.setter
    def cookie(self, value: str) -> None:
        self.client.set_cookie(COOKIE, value, domain=self.domain, path="/dashboard")

    @property
    def origin(self) -> str:
        return self.options.get("base_url", "http://localhost")

    @property
    def domain(self) -> str:
        return self.origin.partition("//")[2]


def add_pet(
    project: Project, name: str, category_id: int = 7, status: str = "available"
) -> int:
    """Add an animal and return its id."""
    members = {"name": name, "category_id": category_id, "status": status}
    return Pet.add(project.id, **members).id


def category_names(project: Project, ids: Iterable[int]) -> dict[int, str | None]:
    """Return the name of each of these categories that there is, by id."""
    names = dict(Category.page(project.id, after=-1, limit=1_000))
    return {each: names[each] for each in ids if each in names}


def shown_choices(page: str) -> dict[str, str]:
    """Return what is chosen in the page about a file."""
    shown = re.findall('name="(shown)" value="([^"]+)"', page)
    for name, options in re.findall(
        '<select id="choose-.*?" name="(.*?)".*?>(.*?)</select', page, re.DOTALL
    ):
        values = re.findall('value="([^"]*)"( selected)?', options)
        chosen = [value for value, selected in values if selected] or [values[0][0]]
        shown.append((unescape(name), unescape(chosen[0])))
    typed = re.findall('<input id="type-[^"]*" name="([^"]*)" value="([^"]+)"', page)
    return dict(shown + [(name, unescape(text)) for name, text in typed])


def words(page: TestResponse) -> str:
    """Return the visible text of a page, in one line."""
    return " ".join(unescape(TAG.sub(" ", page.text)).split())
