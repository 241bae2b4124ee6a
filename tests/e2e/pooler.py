"""Debian's PgBouncer in transaction mode, between the service and PostgreSQL."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.e2e.authority import running
from tests.servers import free_port

CONFIG = """
[databases]
petstore = host={socket} dbname=pooled user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 500
server_reset_query =
"""
# Fewer than the service has requests at once, so that they are lent in turns.
CONNECTIONS = 4


@contextmanager
def pgbouncer(server: str) -> Iterator[str]:
    """One in front of that server for as long as the block runs; its address."""
    # Not in pytest's own directory, which its user may not enter.
    with tempfile.TemporaryDirectory(prefix="petstore-pgbouncer-") as directory:
        config, port = Path(directory, "pgbouncer.ini"), free_port()
        [socket] = parse_qs(urlsplit(server).query)["host"]
        text = CONFIG.format(socket=socket, port=port, connections=CONNECTIONS)
        config.write_text(text)
        Path(directory).chmod(0o755)
        # It does not run as root; PostgreSQL has a user of its own then, too.
        user = [f"--user={Path(socket).owner()}"] if os.geteuid() == 0 else []
        with running(
            ["pgbouncer", *user, str(config)], config.with_suffix(".log"), port
        ):
            yield f"postgresql://petstore@127.0.0.1:{port}/petstore"
