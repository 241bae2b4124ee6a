"""PostgreSQL and Redis as platforms offer them: TLS with untrusted certificates."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import trustme

from tests.harness.servers import free_port, running

PASSWORD = "Geheimnis"
POSTGRESQL = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
ACCESS = "hostssl all all 127.0.0.1/32 scram-sha-256\n"


@dataclass
class Certificate:
    """The files of a server's certificate."""

    chain: Path
    key: Path


@contextmanager
def redis(directory: Path) -> Iterator[str]:
    """Run Debian's Redis, which requires TLS, and yield its URL."""
    port, shown = free_port(), certificate(directory)
    command = ["redis-server", "--port", "0", "--tls-port", str(port), "--save", ""]
    command += ["--bind", "127.0.0.1", "--tls-auth-clients", "no"]
    command += ["--tls-cert-file", str(shown.chain), "--tls-key-file", str(shown.key)]
    command += ["--tls-ca-cert-file", str(shown.chain), "--requirepass", PASSWORD]
    with running(command, port, directory / "redis.log"):
        yield f"rediss://:{PASSWORD}@127.0.0.1:{port}"


@contextmanager
def postgresql(directory: Path) -> Iterator[str]:
    """Run Debian's PostgreSQL, which requires TLS and a password; yield its URL."""
    port, shown, own = free_port(), certificate(directory), directory / "data"
    password = directory / "password"
    password.write_text(PASSWORD)
    _hand_over(directory)
    initdb = ["initdb", "--pgdata", str(own), "--username", "petstore"]
    initdb += ["--auth", "scram-sha-256", "--pwfile", str(password)]
    subprocess.run(_as_owner(initdb), check=True, capture_output=True)
    (own / "pg_hba.conf").write_text(ACCESS)
    command = ["postgres", "-D", str(own), "-p", str(port), "-k", "", "-c", "ssl=on"]
    command += ["-c", f"ssl_cert_file={shown.chain}", "-c", f"ssl_key_file={shown.key}"]
    command += ["-c", "listen_addresses=127.0.0.1"]
    with running(_as_owner(command), port, directory / "postgresql.log"):
        yield f"postgres://petstore:{PASSWORD}@127.0.0.1:{port}/postgres?sslmode=require"


def certificate(directory: Path) -> Certificate:
    """Issue a certificate from an untrusted authority."""
    issued = trustme.CA().issue_cert("127.0.0.1")
    shown = Certificate(directory / "server.pem", directory / "server.key")
    issued.cert_chain_pems[0].write_to_path(shown.chain)
    issued.private_key_pem.write_to_path(shown.key)
    shown.key.chmod(0o600)
    return shown


def _as_owner(command: list[str]) -> list[str]:
    command = [str(POSTGRESQL[-1] / command[0]), *command[1:]]
    # PostgreSQL refuses to run as root; Debian's package has created a user for it.
    return (
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        if _is_root()
        else command
    )


def _hand_over(directory: Path) -> None:
    if _is_root():
        for path in (directory, *directory.iterdir()):
            shutil.chown(path, "postgres")


def _is_root() -> bool:
    return os.geteuid() == 0
