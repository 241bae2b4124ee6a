"""The certificate that the TLS proxy presents for a domain.

The first handshake makes a proxy with on-demand TLS obtain the certificate. The service
connects to no address but the proxy's, which the operator sets; the domain is only the
server name in the handshake.
"""

import socket
import ssl
from dataclasses import dataclass
from typing import Any

from petstore.addresses import Address
from petstore.clock import MS_PER_SECOND

HANDSHAKE_SECONDS = 120  # an authority may take two minutes


@dataclass(frozen=True, slots=True)
class Certificate:
    """The issuer and the expiry of a certificate, or why there is none."""

    issuer: str | None = None
    expires_ms: int | None = None
    fault: str | None = None


def fetch_certificate(proxy: Address, domain: str) -> Certificate:
    """Return the proxy's certificate for the domain, verified as clients do."""
    context = ssl.create_default_context()
    try:
        with (
            socket.create_connection(proxy, HANDSHAKE_SECONDS) as connection,
            context.wrap_socket(connection, server_hostname=domain) as channel,
        ):
            return _read(channel.getpeercert() or {})
    except ssl.SSLCertVerificationError as error:
        reason = error.verify_message.rstrip(".")
        return _failed(f"The proxy shows a certificate that is not valid: {reason}.")
    except TimeoutError:
        return _failed("The proxy did not show a certificate in time.")
    except ssl.SSLError:
        return _failed("The proxy has no certificate for this domain yet.")
    except OSError:
        return _failed(f"The proxy at {proxy} cannot be reached.")


def _read(certificate: dict[str, Any]) -> Certificate:
    names = {key: value for [(key, value)] in certificate["issuer"]}
    known = (names.get(key) for key in ("organizationName", "commonName"))
    issuer = ", ".join(filter(None, known)) or "an authority without a name"
    expires = ssl.cert_time_to_seconds(certificate["notAfter"])
    return Certificate(issuer, int(expires) * MS_PER_SECOND)


def _failed(fault: str) -> Certificate:
    return Certificate(fault=fault)
