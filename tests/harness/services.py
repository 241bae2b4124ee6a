"""The service under gunicorn, for tests that use it from outside."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from petstore.models.grants import FULL_GRANT, Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.timeouts import Limits
from tests.harness import servers
from tests.harness.clients import PETS, Answer, Client
from tests.harness.stage import opened

AMPLE = Plan("enterprise", 10**9, 10**9)


@dataclass(frozen=True)
class Service:
    """A running gunicorn, and a key of a project with ample quota."""

    gunicorn: servers.Gunicorn
    key: str = field(repr=False)

    @property
    def url(self) -> str:
        """The base URL of the service."""
        return self.gunicorn.url

    @property
    def workers(self) -> list[psutil.Process]:
        """The worker processes."""
        return self.gunicorn.workers

    @property
    def counters(self) -> str:
        """What the service says about its counters: `ok` or `degraded`."""
        return self.send("/readyz").json["counters"]

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the parsed lines of the log whose event begins with that name."""
        # Parsing every line would slow down the tests that run in this process.
        begin = b'"event":"%s' % name.encode()
        # The last one may be under way.
        lines = self.gunicorn.log.read_bytes().split(b"\n")[:-1]
        return [json.loads(line) for line in lines if begin in line]

    def client(self) -> Client:
        """Return a new client with the key."""
        return Client(self.url, self.key)

    def send(
        self,
        path: str = PETS,
        body: object = None,
        *,
        method: str | None = None,
        **headers: str,
    ) -> Answer:
        """Send a GET request, or POST if there is a body, on a new connection."""
        with self.client() as client:
            method = method or ("GET" if body is None else "POST")
            return client.send(method, path, body, **headers)


@contextmanager
def serving(
    directory: Path,
    environ: dict[str, str],
    *options: str,
    key: str = "",
    limits: Limits | None = None,
) -> Iterator[Service]:
    """Run the service on a migrated database, with extra options for gunicorn.

    Unless a key is given, one of a new project is issued. Unless limits are given, the
    service has those of this process.
    """
    key = key or issue_key(environ)
    environ = environ | {"GUNICORN_CMD_ARGS": shlex.join(options)}
    with servers.gunicorn(directory, environ, limits=limits) as gunicorn:
        yield Service(gunicorn, key)


def issue_key(
    environ: dict[str, str], plan: Plan = AMPLE, grant: Grant = FULL_GRANT
) -> str:
    """Create a project and return a key of it."""
    with opened(environ):
        return Key.issue(Project.add("Shelter", None, plan), grant)
