"""URLs in settings, checked.

The errors do not repeat the URL, which may contain a password.
"""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

_HOST = r"[A-Za-z0-9.:\[\]-]+"
_BASE_URL = rf"https?://{_HOST}(/[!-~]*)?/v1"
_ORIGIN = r"https?://[a-z0-9.:\[\]-]+"
_CONTACT_URL = rf"https?://{_HOST}(/[!-~]*)?"
_EMAIL = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*"
_SERVERS = r"[^/?#\s]+"
_REDIS = rf"redis://{_SERVERS}(/[0-9]*)?"
_REDIS_TLS = (
    rf"rediss://{_SERVERS}(/[0-9]*)?(\?ssl_cert_reqs=(none|optional|required))?"
)
# The name of the master follows the sentinels.
_REDIS_SEVERAL = (
    rf"redis\+(cluster://({_SERVERS})/?|sentinel://({_SERVERS})/[A-Za-z0-9._-]+)"
)
# What asyncpg takes in a URL. It would send any other name to the server as a setting.
_POSTGRESQL_PARTS = {
    *("user", "password", "passfile", "host", "port", "dbname"),
    *("sslmode", "sslcert", "sslkey", "sslpassword", "sslrootcert", "sslcrl"),
    *("sslnegotiation", "ssl_min_protocol_version", "ssl_max_protocol_version"),
    *("target_session_attrs", "application_name", "options"),
}
# What other drivers take, and hosts of databases therefore write. The service has its
# own time limits, and asyncpg never binds the password to the TLS channel.
_IGNORED_PARTS = re.compile(
    r"(connect_timeout=[0-9]+|channel_binding=(prefer|disable))"
)


def database_url(text: str) -> str:
    """Return the URL of an SQLite file or a PostgreSQL database; raises ValueError."""
    scheme, _, rest = text.partition("://")
    if scheme == "sqlite" and rest.startswith("/"):
        return _sqlite_url(text)
    if scheme in ("postgres", "postgresql"):
        return _postgresql_url(f"postgresql://{rest}")
    raise ValueError(
        "must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME"
    )


def redis_url(text: str) -> str:
    """Return the URL of a Redis, a cluster or sentinels; raises ValueError."""
    if _is_url(text, f"{_REDIS}|{_REDIS_TLS}") or _are_redis_servers(text):
        return text
    raise ValueError(
        "must be redis://HOST:PORT/NUMBER, rediss://HOST:PORT/NUMBER (only "
        "?ssl_cert_reqs=none may follow), redis+cluster://HOST:PORT,HOST:PORT or "
        "redis+sentinel://HOST:PORT,HOST:PORT/NAME"
    )


def base_url(text: str) -> str:
    """Return the base URL of the interface; raises ValueError."""
    if _is_url(text, _BASE_URL):
        return text
    raise ValueError("must be an address like https://api.example.org/v1")


def origins(text: str) -> tuple[str, ...]:
    """Return the origins of pages, `*` for any; raises ValueError."""
    found = tuple(text.split(","))
    if all(origin == "*" or _is_url(origin, _ORIGIN) for origin in found):
        return found
    raise ValueError(
        "must be * or origins like https://app.example.org, separated by commas"
    )


def contact(text: str) -> str:
    """Return the URL or the email address of a contact; raises ValueError."""
    if _is_url(text, _CONTACT_URL) or re.fullmatch(_EMAIL, text):
        return text
    raise ValueError(
        "must be a URL like https://example.org/plans or an email address, "
        f"not {text!r}"
    )


def _is_url(text: str, pattern: str) -> bool:
    """Return whether a URL matches the pattern, and names a host."""
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return has_host and bool(re.fullmatch(pattern, text))


def _are_redis_servers(text: str) -> bool:
    match = re.fullmatch(_REDIS_SEVERAL, text)
    servers = (match[2] or match[3]).rpartition("@")[2].split(",") if match else []
    return bool(servers) and all(
        re.search(":[0-9]+$", server) and _is_url(f"redis://{server}", _REDIS)
        for server in servers
    )


def _sqlite_url(url: str) -> str:
    path = url.removeprefix("sqlite:///")
    if (
        not path
        or path.endswith("/")
        or "?" in path
        or ":memory:" in path
        or "%00" in path
    ):
        raise ValueError("sqlite:/// must be followed by the path of a file")
    return url


def postgresql_parts(url: str) -> dict[str, str]:
    """Return what the URL of a PostgreSQL database names; raises ValueError."""
    if re.search("%(?![0-9A-Fa-f]{2})", url):
        raise ValueError("% must be followed by two digits")
    split = urlsplit(url)
    user, _, password = split.netloc.rpartition("@")[0].partition(":")
    servers = split.netloc.rpartition("@")[2].split(",")
    ports = [str(urlsplit(f"//{server}").port or "") for server in servers]
    parts = {
        "user": unquote(user),
        "password": unquote(password),
        "host": ",".join(
            server.removesuffix(f":{port}")
            for server, port in zip(servers, ports, strict=True)
        ),
        "port": ",".join(filter(None, ports)),
        "dbname": unquote(split.path.removeprefix("/")),
    }
    options = dict(parse_qsl(split.query, strict_parsing=True)) if split.query else {}
    return {name: text for name, text in (parts | options).items() if text}


def _postgresql_url(url: str) -> str:
    address, _, query = url.partition("?")
    options = query.split("&")
    if "channel_binding=require" in options:
        raise ValueError(
            "channel_binding=require is not supported; remove it, and use "
            "sslmode=verify-full to know that the server is the right one"
        )
    query = "&".join(each for each in options if not _IGNORED_PARTS.fullmatch(each))
    url = f"{address}?{query}" if query else address
    try:
        parts = postgresql_parts(url)
        if parts.keys() - _POSTGRESQL_PARTS or "/" in parts.get("dbname", ""):
            raise ValueError
    except ValueError:
        raise ValueError(
            "not a PostgreSQL address; it looks like "
            "postgresql://USER:PASSWORD@HOST:PORT/NAME, with %XX for "
            "special characters in user and password, and perhaps ?sslmode=MODE"
        ) from None
    if not parts.get("dbname"):
        raise ValueError("must name a database after the host")
    return url
