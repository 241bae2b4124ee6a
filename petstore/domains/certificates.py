"""The certificate that the TLS proxy shows for a domain.

The first handshake makes a proxy with on-demand TLS fetch the certificate. The only
address that is ever connected to is the proxy's, which the operator sets; a domain is
no more than the name that is asked for there.
"""

import socket
import ssl
from dataclasses import dataclass

from petstore.addresses import Address
from petstore.clock import MS_PER_SECOND

HANDSHAKE_SECONDS = 120  # an authority may take a couple of minutes


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the proxy shows: an issuer and an end, or why there is none."""

    issuer: str | None = None
    expires_ms: int | None = None
    fault: str | None = None


def shake_hands(proxy: Address, domain: str) -> Certificate:
    """Ask the proxy for the domain's certificate, trusting whom clients trust."""
    context = ssl.create_default_context()
    try:
        with (
            socket.create_connection(proxy, HANDSHAKE_SECONDS) as connection,
            context.wrap_socket(connection, server_hostname=domain) as channel,
        ):
            return _read(channel.getpeercert())
    except ssl.SSLCertVerificationError as error:
        reason = error.verify_message.rstrip(".")
        return _failed(f"The proxy shows a certificate that is not valid: {reason}.")
    except TimeoutError:
        return _failed("The proxy did not show a certificate in time.")
    except ssl.SSLError:
        return _failed("The proxy has no certificate for this domain yet.")
    except OSError:
        return _failed(f"The proxy at {proxy} cannot be reached.")


def _read(certificate: dict) -> Certificate:
    names = {key: value for [(key, value)] in certificate["issuer"]}
    known = (names.get(key) for key in ("organizationName", "commonName"))
    issuer = ", ".join(filter(None, known)) or "an authority without a name"
    expires = ssl.cert_time_to_seconds(certificate["notAfter"])
    return Certificate(issuer, int(expires) * MS_PER_SECOND)


def _failed(fault: str) -> Certificate:
    return Certificate(fault=fault)
