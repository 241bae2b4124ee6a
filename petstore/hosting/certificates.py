"""The certificate that the TLS proxy presents for a domain.

The first handshake makes a proxy with on-demand TLS obtain the certificate. The service
connects to no address but the proxy's, which the operator sets; the domain is only the
server name in the handshake.
"""

import socket
import ssl
from typing import Any

from petstore import timeouts
from petstore.clock import MS_PER_SECOND
from petstore.concurrency import call_in_thread
from petstore.models.domains import Certificate
from petstore.settings import Address


def fetch_certificate(proxy: Address, domain: str) -> Certificate:
    """Return the proxy's certificate for the domain, verified as clients do."""
    try:
        # Reading the trusted authorities takes long.
        context = call_in_thread(ssl.create_default_context)
        with (
            socket.create_connection(proxy, timeouts.LIMITS.handshake_seconds) as plain,
            context.wrap_socket(plain, server_hostname=domain) as connection,
        ):
            return _read(connection.getpeercert() or {})
    # The second is a name that cannot be encoded.
    except (OSError, UnicodeError) as error:
        detail = f"{proxy}: {error or type(error).__name__}"
        return Certificate(fault=_fault_of(error), detail=detail)


def _fault_of(error: Exception) -> str:
    """Return what the project sees: no address, which may be an internal one."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message.rstrip(".")
        return f"The proxy shows a certificate that is not valid: {reason}."
    if isinstance(error, TimeoutError):
        return "The proxy did not show a certificate in time."
    if isinstance(error, ssl.SSLError | ConnectionResetError | ConnectionAbortedError):
        return "The proxy has no certificate for this domain yet."
    return "The proxy cannot be reached."


def _read(certificate: dict[str, Any]) -> Certificate:
    names = {key: value for [(key, value)] in certificate["issuer"]}
    known = (names.get(key) for key in ("organizationName", "commonName"))
    issuer = ", ".join(filter(None, known)) or "an authority without a name"
    expires = ssl.cert_time_to_seconds(certificate["notAfter"])
    return Certificate(issuer, int(expires) * MS_PER_SECOND)
