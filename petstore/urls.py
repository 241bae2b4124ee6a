"""URLs in settings, checked; '' stands for none.

The errors do not repeat the URL, which may contain a password.
"""

import re
from contextlib import suppress
from urllib.parse import urlsplit

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

# What follows the servers; for sentinels it is the name of the master.
_REDIS_PATHS = {"redis+cluster": "/?", "redis+sentinel": "/[A-Za-z0-9._-]+"}
_REDIS_QUERIES = {"redis": "", "rediss": "(ssl_cert_reqs=(none|optional|required))?"}
_BASE_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[!-~]*)?/v1")
_ORIGIN = re.compile(r"https?://[a-z0-9.:\[\]-]+")


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


def redis_url(text: str) -> str | None:
    """Return the URL of a Redis, a cluster or sentinels; raises ValueError."""
    with suppress(ValueError):
        if not text or _is_redis_server(text) or _are_redis_servers(text):
            return text or None
    raise ValueError(
        "must be redis://HOST:PORT/NUMBER, rediss://HOST:PORT/NUMBER (only "
        "?ssl_cert_reqs=none may follow), redis+cluster://HOST:PORT,HOST:PORT or "
        "redis+sentinel://HOST:PORT,HOST:PORT/NAME"
    )


def base_url(text: str) -> str | None:
    """Return the base URL of the interface; raises ValueError."""
    with suppress(ValueError):
        if not text or (_BASE_URL.fullmatch(text) and _has_host(text)):
            return text or None
    raise ValueError("must be an address like https://api.example.org/v1")


def origins(text: str) -> tuple[str, ...]:
    """Return the origins of pages, `*` for any; raises ValueError."""
    found = (text or "*").split(",")
    with suppress(ValueError):
        if all(
            origin == "*" or (_ORIGIN.fullmatch(origin) and _has_host(origin))
            for origin in found
        ):
            return tuple(found)
    raise ValueError(
        "must be * or origins like https://app.example.org, separated by commas"
    )


def _has_host(url: str) -> bool:
    """Return whether a URL names a host; raises ValueError if it is not valid."""
    parts = urlsplit(url)
    return bool(parts.hostname) and parts.port != 0


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


def _postgresql_url(url: str) -> str:
    try:
        parts = conninfo_to_dict(url)
        int(str(parts.get("port", 5432)))
    except (ProgrammingError, ValueError):
        raise ValueError(
            "not a PostgreSQL address; it looks like "
            "postgresql://USER:PASSWORD@HOST:PORT/NAME, with %XX for "
            "special characters in user and password"
        ) from None
    if not parts.get("dbname"):
        raise ValueError("must name a database after the host")
    return url


def _is_redis_server(url: str) -> bool:
    parts = urlsplit(url)
    return bool(
        parts.scheme in _REDIS_QUERIES
        and _has_host(url)
        and re.fullmatch(r"(/[0-9]*)?", parts.path)
        and re.fullmatch(_REDIS_QUERIES[parts.scheme], parts.query)
        and not parts.fragment
    )


def _are_redis_servers(url: str) -> bool:
    parts = urlsplit(url)
    return bool(
        parts.scheme in _REDIS_PATHS
        and re.fullmatch(_REDIS_PATHS[parts.scheme], parts.path)
        and not parts.query
        and not parts.fragment
        and all(
            re.search(":[0-9]+$", server) and _is_redis_server(f"redis://{server}")
            for server in parts.netloc.rpartition("@")[2].split(",")
        )
    )
