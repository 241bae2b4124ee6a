"""The settings: environment variables, read once, checked and frozen."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from petstore.addresses import Address, address, addresses, domain
from petstore.urls import base_url, database_url, origins, redis_url

MAX_WORKERS = 8
MIN_SECRET_LENGTH = 16
HTTPS_PORT = 443


class SettingError(ValueError):
    """A setting is not valid; the text names it and says what it must be."""


@dataclass(frozen=True)
class Settings:
    """The value of every setting, or its default."""

    database_url: str = field(repr=False)  # it may contain a password
    prepared_statements: bool
    redis_url: str | None = field(repr=False)  # so may this
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
    """Read every setting; an empty variable counts as not set.

    Raises `SettingError` for the first one that is not valid.
    """
    base_domain = _parsed(environ, "PETSTORE_BASE_DOMAIN", domain)
    return Settings(
        database_url=_parsed(
            environ, "DATABASE_URL", database_url, default="sqlite:///petstore.db"
        ),
        prepared_statements=bool(
            _integer(
                environ, "PETSTORE_PREPARED_STATEMENTS", default=1, within=range(2)
            )
        ),
        redis_url=_parsed(environ, "REDIS_URL", redis_url),
        port=_integer(environ, "PORT", default=8000, within=range(1, 65_536)),
        workers=_integer(
            environ,
            "WEB_CONCURRENCY",
            default=min(_usable_cores(), MAX_WORKERS),
            within=range(1, 1001),
        ),
        secret_key=_parsed(environ, "SECRET_KEY", _secret),
        trusted_proxies=_integer(
            environ, "PETSTORE_TRUSTED_PROXIES", default=0, within=range(101)
        ),
        ban_after=_integer(
            environ, "PETSTORE_BAN_AFTER", default=10, within=range(1, 1_000_001)
        ),
        ban_seconds=_integer(
            environ, "PETSTORE_BAN_SECONDS", default=300, within=range(1, 31_536_001)
        ),
        production_url=_parsed(environ, "PETSTORE_PRODUCTION_URL", base_url),
        staging_url=_parsed(environ, "PETSTORE_STAGING_URL", base_url),
        cors_origins=_parsed(environ, "PETSTORE_CORS_ORIGINS", origins),
        base_domain=base_domain,
        dns_servers=_parsed(environ, "PETSTORE_DNS_SERVERS", addresses),
        tls_address=_parsed(environ, "PETSTORE_TLS_ADDRESS", address)
        or (Address(base_domain, HTTPS_PORT) if base_domain else None),
    )


def _parsed(
    environ: Mapping[str, str],
    name: str,
    parse: Callable[[str], Any],
    default: str = "",
) -> Any:
    try:
        return parse(environ.get(name) or default)
    except ValueError as error:
        raise SettingError(f"{name}: {error}") from None


def _secret(text: str) -> str | None:
    if 0 < len(text) < MIN_SECRET_LENGTH:
        raise ValueError(f"must have at least {MIN_SECRET_LENGTH} characters")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("must be UTF-8")
    return text or None


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
    is_number = text.isascii() and text.isdecimal() and len(text) < 10
    if not (is_number and int(text) in within):
        raise SettingError(
            f"{name}: must be a whole number from {within[0]} to {within[-1]}, "
            f"not {text!r}"
        )
    return int(text)
