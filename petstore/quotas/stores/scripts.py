"""Scripts in Lua, which a Redis is sent once and then called by their digests."""

import hashlib
from collections.abc import Sequence
from typing import Protocol

from redis.exceptions import NoScriptError


class Server(Protocol):
    """What runs scripts."""

    def evalsha(self, digest: str, keys: int, *arguments: int | str) -> list[int]:
        """Run the one that was sent before; raises `NoScriptError`."""

    def eval(self, text: str, keys: int, *arguments: int | str) -> list[int]:
        """Run this one, and keep it."""


class Script:
    """Text in Lua that a server is sent once and then called by its digest."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = hashlib.sha1(
            self.text.encode(), usedforsecurity=False
        ).hexdigest()

    def run(
        self, server: Server, key: str, arguments: Sequence[int | str]
    ) -> list[int]:
        """Its answer; the server keeps the text from the first call on."""
        try:
            return server.evalsha(self.digest, 1, key, *arguments)
        except NoScriptError:
            return server.eval(self.text, 1, key, *arguments)
