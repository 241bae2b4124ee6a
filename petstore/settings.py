"""The environment, read once, checked and frozen."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from petstore.addresses import Address, address, addresses, domain

MAX_WORKERS = 8
HTTPS_PORT = 443

# What follows the servers: the name of the master where sentinels watch it.
_REDIS_PATHS = {"redis+cluster": "/?", "redis+sentinel": "/[A-Za-z0-9._-]+"}


class SettingError(ValueError):
    """A setting that cannot be understood; the text names it and says what it takes."""


@dataclass(frozen=True)
class Settings:
    """What the operator decides, typed."""

    database_url: str
    prepared_statements: bool
    redis_url: str | None
    port: int
    workers: int
    secret_key: str | None = field(repr=False)
    trusted_proxies: int
    ban_after: int
    ban_seconds: int
    production_url: str | None
    staging_url: str | None
    cors_origins: tuple[str, ...]
    base_domain: str | None
    dns_servers: tuple[Address, ...]
    tls_address: Address | None


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read every setting; an empty one counts as not set.

    Raises `SettingError` for the first one that cannot be understood.
    """
    base_domain = _parsed(environ, "PETSTORE_BASE_DOMAIN", domain)
    return Settings(
        database_url=_database_url(environ),
        prepared_statements=bool(
            _integer(
                environ, "PETSTORE_PREPARED_STATEMENTS", default=1, within=range(2)
            )
        ),
        redis_url=_redis_url(environ),
        port=_integer(environ, "PORT", default=8000, within=range(1, 65_536)),
        workers=_integer(
            environ,
            "WEB_CONCURRENCY",
            default=min(_usable_cores(), MAX_WORKERS),
            within=range(1, 1001),
        ),
        secret_key=environ.get("SECRET_KEY") or None,
        trusted_proxies=_integer(
            environ, "PETSTORE_TRUSTED_PROXIES", default=0, within=range(101)
        ),
        ban_after=_integer(
            environ, "PETSTORE_BAN_AFTER", default=10, within=range(1, 1_000_001)
        ),
        ban_seconds=_integer(
            environ, "PETSTORE_BAN_SECONDS", default=300, within=range(1, 31_536_001)
        ),
        production_url=_base_url(environ, "PETSTORE_PRODUCTION_URL"),
        staging_url=_base_url(environ, "PETSTORE_STAGING_URL"),
        cors_origins=_origins(environ),
        base_domain=base_domain,
        dns_servers=_parsed(environ, "PETSTORE_DNS_SERVERS", addresses),
        tls_address=_parsed(environ, "PETSTORE_TLS_ADDRESS", address)
        or (Address(base_domain, HTTPS_PORT) if base_domain else None),
    )


def _database_url(environ: Mapping[str, str]) -> str:
    url = environ.get("DATABASE_URL") or "sqlite:///petstore.db"
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite" and rest.startswith("/"):
        return _sqlite_url(url)
    if scheme in ("postgres", "postgresql"):
        return _postgresql_url(f"postgresql://{rest}")
    raise SettingError(
        "DATABASE_URL: must be sqlite:///FILE or "
        "postgresql://USER:PASSWORD@HOST:PORT/NAME"
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
        raise SettingError(
            "DATABASE_URL: sqlite:/// must be followed by the path of a file"
        )
    return url


def _postgresql_url(url: str) -> str:
    try:
        parts = conninfo_to_dict(url)
        int(str(parts.get("port", 5432)))
    except (ProgrammingError, ValueError):
        raise SettingError(
            "DATABASE_URL: not a PostgreSQL address; it looks like "
            "postgresql://USER:PASSWORD@HOST:PORT/NAME, with %XX for "
            "special characters in user and password"
        ) from None
    if not parts.get("dbname"):
        raise SettingError("DATABASE_URL: names no database after the host")
    return url


def _redis_url(environ: Mapping[str, str]) -> str | None:
    url = environ.get("REDIS_URL")
    with suppress(ValueError):
        if not url or _is_redis_server(url) or _are_redis_servers(url):
            return url or None
    raise SettingError(
        "REDIS_URL: must be redis://HOST:PORT/NUMBER, rediss://HOST:PORT/NUMBER, "
        "redis+cluster://HOST:PORT,HOST:PORT or "
        "redis+sentinel://HOST:PORT,HOST:PORT/NAME"
    )


def _is_redis_server(url: str) -> bool:
    parts = urlsplit(url)
    return bool(
        parts.scheme in ("redis", "rediss")
        and parts.hostname
        and parts.port != 0
        and re.fullmatch(r"(/[0-9]*)?", parts.path)
    )


def _are_redis_servers(url: str) -> bool:
    parts = urlsplit(url)
    return bool(
        parts.scheme in _REDIS_PATHS
        and re.fullmatch(_REDIS_PATHS[parts.scheme], parts.path)
        and not parts.query
        and all(
            re.search(":[0-9]+$", server) and _is_redis_server(f"redis://{server}")
            for server in parts.netloc.rpartition("@")[2].split(",")
        )
    )


def _base_url(environ: Mapping[str, str], name: str) -> str | None:
    url = environ.get(name)
    if url and not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+(/[!-~]*)?/v1", url):
        raise SettingError(
            f"{name}: must be an address like https://api.example.org/v1, not {url!r}"
        )
    return url or None


def _origins(environ: Mapping[str, str]) -> tuple[str, ...]:
    origins = (environ.get("PETSTORE_CORS_ORIGINS") or "*").split(",")
    for origin in origins:
        if origin != "*" and not re.fullmatch(r"https?://[a-z0-9.:\[\]-]+", origin):
            raise SettingError(
                "PETSTORE_CORS_ORIGINS: must be * or origins like "
                f"https://app.example.org, separated by commas, not {origin!r}"
            )
    return tuple(origins)


def _parsed(environ: Mapping[str, str], name: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(environ.get(name) or "")
    except ValueError as error:
        raise SettingError(f"{name}: {error}") from None


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # Linux only
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _integer(
    environ: Mapping[str, str], name: str, *, default: int, within: range
) -> int:
    text = environ.get(name)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise SettingError(f"{name}: must be a whole number, not {text!r}")
    if int(text) not in within:
        raise SettingError(
            f"{name}: must be from {within[0]} to {within[-1]}, not {text}"
        )
    return int(text)
