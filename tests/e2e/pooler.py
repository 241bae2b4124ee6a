"""Debian's PgBouncer in transaction mode, between the service and PostgreSQL."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.harness.servers import free_port, running

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
# Fewer than there are concurrent requests, so that connections are shared.
CONNECTIONS = 4


@contextmanager
def pgbouncer(server: str) -> Iterator[str]:
    """Run PgBouncer in front of this server for the block, and yield its URL."""
    # Not in pytest's temporary directory, which PgBouncer's user may not enter.
    with tempfile.TemporaryDirectory(prefix="petstore-pgbouncer-") as directory:
        config, port = Path(directory, "pgbouncer.ini"), free_port()
        [socket] = parse_qs(urlsplit(server).query)["host"]
        text = CONFIG.format(socket=socket, port=port, connections=CONNECTIONS)
        config.write_text(text)
        Path(directory).chmod(0o755)
        # PgBouncer refuses to run as root; PostgreSQL's user runs it then.
        user = [f"--user={Path(socket).owner()}"] if os.geteuid() == 0 else []
        command = ["pgbouncer", *user, str(config)]
        with running(command, port, config.with_suffix(".log")):
            yield f"postgresql://petstore@127.0.0.1:{port}/petstore"
