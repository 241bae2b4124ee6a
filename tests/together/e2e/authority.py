"""A certificate authority (Pebble), and the DNS server that the tests use."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
import trustme

from tests.harness.servers import free_port, running, wait_for_port

SETTINGS = Path(__file__).with_name("pebble.json")


@dataclass
class Dns:
    """pebble-challtestsrv: resolves every name to 127.0.0.1, plus added records."""

    address: str
    management: str

    def put_cname(self, name: str, target: str) -> None:
        """Publish a CNAME record."""
        record = {"host": f"{name}.", "target": f"{target}."}
        requests.post(f"{self.management}/set-cname", json=record).raise_for_status()


@dataclass
class Authority:
    """The ACME directory of Pebble, and the root certificates to trust."""

    directory: str
    own_root: Path  # of its ACME endpoint
    issued_root: Path  # of the certificates that it issues

    @property
    def caddy_options(self) -> list[str]:
        """The global options with which Caddy uses it."""
        return [f"acme_ca {self.directory}", f"acme_ca_root {self.own_root}"]


@contextmanager
def dns(log: Path) -> Iterator[Dns]:
    """Run a DNS server for the duration of the block."""
    port, management = free_port(), free_port()
    command = ["pebble-challtestsrv", "-defaultIPv6", ""]
    command += ["-dns01", f"127.0.0.1:{port}", "-management", f"127.0.0.1:{management}"]
    command += ["-http01", "", "-https01", "", "-tlsalpn01", ""]
    with running(command, management, log):
        yield Dns(f"127.0.0.1:{port}", f"http://127.0.0.1:{management}")


@contextmanager
def authority(directory: Path, dns: Dns, http: int, https: int) -> Iterator[Authority]:
    """Run an authority that validates domains on these two ports."""
    port, management = free_port(), free_port()
    root = trustme.CA()
    trusted = str(directory / "pebble-root.pem")
    root.cert_pem.write_to_path(trusted)
    own = root.issue_cert("127.0.0.1")
    own.cert_chain_pems[0].write_to_path(directory / "pebble.pem")
    own.private_key_pem.write_to_path(directory / "pebble.key")
    ports = {"PORT": port, "MANAGEMENT": management, "HTTPS": https, "HTTP": http}
    text = SETTINGS.read_text().replace("DIRECTORY", str(directory))
    for name, number in ports.items():
        text = text.replace(f"{name}_NUMBER", str(number))
    config = directory / "pebble.json"
    config.write_text(text)
    command = ["pebble", "-config", str(config), "-dnsserver", dns.address]
    quick = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"}
    with running(command, port, directory / "pebble.log", quick):
        wait_for_port(management)
        issued = directory / "issued-root.pem"
        answer = requests.get(f"https://127.0.0.1:{management}/roots/0", verify=trusted)
        issued.write_bytes(answer.content)
        yield Authority(f"https://127.0.0.1:{port}/dir", Path(trusted), issued)
