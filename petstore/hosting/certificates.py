"""The certificate that the TLS proxy presents for a domain.

The first handshake makes a proxy with on-demand TLS obtain the certificate. The service
connects to no address but the proxy's, which the operator sets; the domain is only the
server name in the handshake.
"""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Any

from petstore import timeouts
from petstore.clock import MS_PER_SECOND
from petstore.settings.addresses import Address


@dataclass(frozen=True, slots=True)
class Certificate:
    """The issuer and the expiry of a certificate, or why there is none."""

    issuer: str | None = None
    expires_ms: int | None = None
    fault: str | None = None
    detail: str | None = None  # of the fault, with addresses: for the operator alone


async def fetch_certificate(proxy: Address, domain: str) -> Certificate:
    """Return the proxy's certificate for the domain, verified as clients do."""
    try:
        async with asyncio.timeout(timeouts.LIMITS.handshake_seconds):
            return await _fetch(proxy, domain)
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


async def _fetch(proxy: Address, domain: str) -> Certificate:
    # Reading the trusted authorities takes long.
    context = await asyncio.to_thread(ssl.create_default_context)
    _, writer = await asyncio.open_connection(
        *proxy,
        ssl=context,
        server_hostname=domain,
        ssl_handshake_timeout=timeouts.LIMITS.handshake_seconds,
    )
    try:
        return _read(writer.get_extra_info("peercert"))
    finally:
        writer.transport.abort()


def _read(certificate: dict[str, Any]) -> Certificate:
    names = {key: value for [(key, value)] in certificate["issuer"]}
    known = (names.get(key) for key in ("organizationName", "commonName"))
    issuer = ", ".join(filter(None, known)) or "an authority without a name"
    expires = ssl.cert_time_to_seconds(certificate["notAfter"])
    return Certificate(issuer, int(expires) * MS_PER_SECOND)
