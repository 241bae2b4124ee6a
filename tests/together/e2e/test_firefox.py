"""Firefox, which has a page of its own about forms that were sent."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.servers import free_port, running
from tests.together.e2e.conftest import TIMEOUT_MS, World
from tests.together.e2e.people import BASE


class Firefox:
    """A Firefox without a window, whose WebDriver commands come over Marionette."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self.answers = connection, connection.makefile("rb")
        self._receive()  # what Firefox says first
        self("NewSession", acceptInsecureCerts=True)
        self("SetTimeouts", implicit=TIMEOUT_MS)

    def __call__(self, command: str, **parameters: Any) -> Any:
        message = json.dumps([0, 1, f"WebDriver:{command}", parameters]).encode()
        self._connection.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self._receive()
        assert not error, error
        return result

    def _receive(self) -> Any:
        length = b"".join(iter(lambda: self.answers.read(1), b":"))
        return json.loads(self.answers.read(int(length)))

    def find(self, selector: str) -> str:
        found = self("FindElement", using="css selector", value=selector)
        return next(iter(found["value"].values()))

    def text(self, selector: str) -> str:
        return self("GetElementText", id=self.find(selector))["value"]

    def send(self, button: str, **fields: str) -> None:
        for name, text in fields.items():
            element = self.find(f"#{name}")
            self("ElementClear", id=element)
            self("ElementSendKeys", id=element, text=text)
        self("ElementClick", id=self.find(button))


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    """A browser that looks for the service on this machine."""
    port = free_port()
    prefs = {"marionette.port": port, "network.dns.localDomains": BASE}
    lines = (
        f"user_pref({json.dumps(name)}, {json.dumps(prefs[name])});" for name in prefs
    )
    (tmp_path / "user.js").write_text("\n".join(lines))
    command = ["firefox-esr", "--headless", "--marionette", "--profile", str(tmp_path)]
    with running(command, port), socket.create_connection(("127.0.0.1", port)) as to_it:
        browser = Firefox(to_it)
        yield browser
        browser.answers.close()


def test_going_back_to_an_error_and_after_it_is_corrected_shows_a_page(
    world: World, firefox: Firefox, key: str
):
    firefox("Navigate", url=f"https://{BASE}:{world.front.https}/dashboard")
    firefox.send("main [type=submit]", key=key)
    firefox.send(".adding button", name="Rex", category="9" * 20)
    assert "Category must be an integer" in firefox.text("#category-fault")
    firefox.send("nav [href$=orders]")
    assert firefox.text("h1") == "Reservations"
    firefox("Back")
    firefox.send(".adding button", category="Dogs")
    assert "Added Rex" in firefox.text(".notice")
    firefox("Back")
    assert firefox.text("h1") == "Home"
