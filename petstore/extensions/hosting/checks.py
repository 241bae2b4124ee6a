"""What `flask check` tells of the proxy in front, and of the hosts in DNS."""

import socket

from petstore.settings import Settings


def proxies(settings: Settings) -> tuple[str, str]:
    if settings.base_domain and not settings.trusted_proxies:
        return "wrong", (
            "PETSTORE_BASE_DOMAIN needs a TLS proxy in front, and "
            "PETSTORE_TRUSTED_PROXIES is 0, so all clients behind that proxy count as "
            "one address. Set PETSTORE_TRUSTED_PROXIES=1"
        )
    return "ok", f"{settings.trusted_proxies} trusted"


def hosts(settings: Settings) -> tuple[str, str]:
    base = settings.base_domain
    if base is None:
        return "ok", "no PETSTORE_BASE_DOMAIN: every host is served"
    # Nobody has created a record for this name, so only a wildcard answers.
    own, below = _addresses(base), _addresses(f"flask-check.{base}")
    if own and own == below:
        return "ok", f"{base} and *.{base} lead to {own}"
    return "warning" if own and below else "wrong", (
        f"DNS leads {base} to {own or 'no address'}, and *.{base} to "
        f"{below or 'no address'}; both must lead to the TLS proxy"
    )


def _addresses(name: str) -> str:
    try:
        found = socket.getaddrinfo(f"{name}.", None, proto=socket.IPPROTO_TCP)
    except socket.gaierror as error:
        if error.errno not in (socket.EAI_NONAME, socket.EAI_NODATA):
            raise
        return ""
    return ", ".join(sorted({str(address[0]) for *_, address in found}))
