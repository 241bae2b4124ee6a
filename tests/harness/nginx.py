"""nginx with deploy/nginx.conf, on the test's ports, paths and certificates."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import trustme

from tests.harness.front import BASE, Front
from tests.harness.servers import ROOT, free_port, running

# In place of Debian's nginx.conf, which includes the files of sites.
AROUND = Path(__file__).with_name("nginx.conf").read_text()


@dataclass
class Certificates:
    """The directory of certbot's certificates, and the authority that issues them."""

    live: Path
    authority: trustme.CA

    def issue(self, name: str, *hosts: str) -> None:
        """Issue a certificate and store it where certbot would."""
        place = self.live / name
        place.mkdir(parents=True)
        issued = self.authority.issue_cert(*hosts)
        chain = b"".join(pem.bytes() for pem in issued.cert_chain_pems)
        (place / "fullchain.pem").write_bytes(chain)
        issued.private_key_pem.write_to_path(place / "privkey.pem")
        # nginx's workers read them as www-data (see deploy/certbot-hook.sh).
        for path in (place / "fullchain.pem", place / "privkey.pem"):
            path.chmod(0o644)


@dataclass
class Nginx(Front):
    """A running nginx."""

    certificates: Certificates


@contextmanager
def nginx(upstream: str) -> Iterator[Nginx]:
    """Run nginx in front of this address for the duration of the block."""
    # Not in pytest's temporary directory, which nginx's workers may not enter.
    with tempfile.TemporaryDirectory(prefix="petstore-nginx-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        certificates = Certificates(directory / "live", trustme.CA())
        certificates.issue(BASE, BASE, f"*.{BASE}")
        trusted = directory / "authority.pem"
        certificates.authority.cert_pem.write_to_path(trusted)
        front = Nginx(free_port(), free_port(), trusted, certificates)
        (directory / "petstore.conf").write_text(_placed(directory, front, upstream))
        (directory / "nginx.conf").write_text(AROUND.format(directory=directory))
        command = ["nginx", "-c", f"{directory}/nginx.conf", "-p", name]
        with running(command, front.https, directory / "nginx.log"):
            yield front


def _placed(directory: Path, front: Front, upstream: str) -> str:
    """Return deploy/nginx.conf with the names, ports and paths of the test."""
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for delivered, here in {
        "listen [::]:80 default_server;\n": "\n",
        "listen [::]:443 ssl http2 default_server;\n": "\n",
        "listen 80 ": f"listen 127.0.0.1:{front.http} ",
        "listen 443 ": f"listen 127.0.0.1:{front.https} ",
        "server 127.0.0.1:8000": f"server {upstream}",
        "/etc/letsencrypt/live": str(directory / "live"),
        "/var/www/acme": str(directory / "acme"),
        "pets.example.org": BASE,
    }.items():
        assert delivered in text, delivered
        text = text.replace(delivered, here)
    return text
