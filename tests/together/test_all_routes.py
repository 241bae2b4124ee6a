"""Generated requests to all routes, of everybody, cause no error of the server.

`TIMES=50` sends 19,500; `SEED` chooses other ones.
"""

import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.grants import FULL, PUBLIC, READ, WRITE, Grant
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.projects import Plan, Project
from tests.extensions.hosting.fixtures import BASE, NAME, Own
from tests.harness.browser import Browser, add_pet
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

REQUESTS = 390 * int(os.environ.get("TIMES", "1"))
EACH = 130  # before what requests have deleted and revoked is there again
GENERATED = yaml.safe_load(Path(__file__).with_name("generated.yaml").read_text())
HOSTS = (BASE,) * 40 + (NAME, "old.example.org", f"shelter.{BASE}", "a_b:x", "", "\xfc")
SITES = (("Sec-Fetch-Site", "same-origin"),) * 6 + (("Origin", "null"), ("X", "y"))
NASTY = (*GENERATED["nasty"], "x" * 3000, "/" * 3000)
REX = {"name": "Rex", "categoryId": "7"}
BODIES = ({}, REX, REX, {"petId": "1"}, {"status": "completed"}, {"role": "public"})


class Generator:
    """Makes requests of what is sound and what is not, by the dice."""

    def __init__(self, app: Flask, dice: random.Random) -> None:
        self.dice, self.rules = dice, list(app.url_map.iter_rules())
        self.rules_at = {
            place: [rule for rule in self.rules if rule.rule.startswith(place)]
            for place in ("/v1", "/dashboard")
        }
        self.known, self.ids = list(GENERATED["sound"]), ["1"]

    def request(self, client: FlaskClient) -> dict[str, Any]:
        """Return the arguments of a request, often to where the client belongs."""
        pick = self.dice.choice
        place = "/v1" if "HTTP_AUTHORIZATION" in client.environ_base else "/dashboard"
        rule = pick(self.rules if self.dice.random() < 0.2 else self.rules_at[place])
        sound = sorted(rule.methods - {"OPTIONS", "HEAD"})
        method = pick(GENERATED["methods"] if self.dice.random() < 0.1 else sound)
        headers = [pick(SITES), *self._pairs("headers", 2)]
        body, content_type = self._body(place)
        return {
            "method": method,
            "headers": [(name, self._sent(" ".join(x.split()))) for name, x in headers],
            "data": body,
            "content_type": content_type,
            "environ_overrides": {
                "PATH_INFO": self._path(rule.rule),
                "QUERY_STRING": self._sent(urlencode(self._pairs("parameters", 3))),
                "HTTP_HOST": pick(HOSTS),
            },
        }

    def _path(self, rule: str) -> str:
        parts = [self._named(part) if "<" in part else part for part in rule.split("/")]
        if self.dice.random() < 0.05:
            parts.insert(self.dice.randrange(len(parts)), self._text())
        return self._sent("/".join(parts))

    def _named(self, part: str) -> str:
        is_id = part.startswith("<id:") and self.dice.random() < 0.7
        return self.dice.choice(self.ids) if is_id else self._text()

    def _sent(self, text: str) -> str:
        """Return the text as WSGI has it, now and then with bytes that are no text."""
        noise = "\xff%zz" if self.dice.random() < 0.03 else ""
        return text.encode().decode("latin-1") + noise

    def _body(self, place: str) -> tuple[Any, str | None]:
        members = self.dice.choice(BODIES) | dict(self._pairs("members", 3))
        match self.dice.randrange(-12 if place == "/v1" else 0, 5):
            case kind if kind <= 0:
                typed = {k: int(v) if v.isdecimal() else v for k, v in members.items()}
                return json.dumps(typed), GENERATED["types"][0]
            case 1:
                lines = self.dice.choices(GENERATED["lines"], k=self.dice.randrange(6))
                file = io.BytesIO("\n".join(lines).encode()), self._text()
                return members | {"file": file}, "multipart/form-data"
            case 2:
                return self._text().encode(), self.dice.choice(GENERATED["types"])
        return self._sent(urlencode(members)).encode("latin-1"), GENERATED["types"][1]

    def _pairs(self, kind: str, most: int) -> list[tuple[str, str]]:
        count = self.dice.randrange(most + 1) if self.dice.random() < 0.5 else 0
        chosen = self.dice.choices(GENERATED[kind], k=count)
        return [(name, self._text()) for name in chosen]

    def _text(self) -> str:
        return self.dice.choice(self.known if self.dice.random() < 0.7 else NASTY)


def callers(app: Flask, project: Project, known: list[str]) -> Iterator[FlaskClient]:
    """Yield clients of everybody; what they may name is known then."""
    yield app.test_client()
    for role in (PUBLIC, READ, WRITE, FULL):
        limits = (60, 1000) if role == PUBLIC else (None, None)
        key = Key.issue(project, Grant(role, *limits))
        known += [key, key[:16]]
        client = app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
        yield client
        if role in (WRITE, FULL):
            browser = Browser(app, key)
            if answer := browser.upload("name,category\nRex,7\n").location:
                known.append(answer.rpartition("/")[2])
            yield browser.client


@of_both_engines
@pytest.mark.usefixtures("hosts")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_generated_request_is_a_server_error(app: Flask, own: Own, clock: Clock):
    dice = random.Random(os.environ.get("SEED", "1"))
    for _ in range(REQUESTS // EACH):
        generator = Generator(app, dice)
        project = Project.add("Shelter", None, Plan("business"))
        made = [own(project, name).id for name in (NAME, "old.example.org")]
        made += [add_pet(project, name) for name in ("Tom", "Tim")]
        made += [Order.place(project.id, made[-1]).id]
        generator.ids += map(str, made)
        clients = list(callers(app, project, generator.known))
        for _ in range(EACH):
            clock.move(seconds=2)
            client = dice.choice(clients)
            request = generator.request(client)
            answer = client.open(**request)
            assert answer.status_code < 500 or answer.status_code == 503, request
            answer.close()
