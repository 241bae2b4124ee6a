"""The settings: environment variables, read once, checked and frozen.

Each field of `Settings` describes its variable: the name, the check, the default and
the meaning. `read_settings`, `flask check` and the table in docs/operating.md use this
description, and nothing else does.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from petstore.settings.addresses import Address, address, addresses, domain
from petstore.settings.numbers import secret, whole_number
from petstore.settings.processors import usable_processors
from petstore.settings.urls import base_url, contact, database_url, origins, redis_url

MAX_WORKERS = 8
HTTPS_PORT = 443


class SettingError(ValueError):
    """A setting is not valid; the text names it and says what it must be."""


class Setting(NamedTuple):
    """What a variable is called, how its text is checked, and what it means."""

    name: str
    parse: Callable[[str], Any]  # raises ValueError
    meaning: str
    default: str = ""  # the text that stands for an unset variable
    default_meaning: str | None = None  # where the default is no fixed text
    unset: Any = None  # the value without a text


def described_by(*facts: Any, is_secret: bool = False, **more: Any) -> Any:
    """Make the field of a setting; a secret one is left out of the repr."""
    return field(repr=not is_secret, metadata={"setting": Setting(*facts, **more)})


@dataclass(frozen=True)
class Settings:
    """The value of every setting, or its default."""

    database_url: str = described_by(
        "DATABASE_URL",
        database_url,
        "`sqlite:///FILE`, or `postgresql://USER:PASSWORD@HOST:PORT/NAME` "
        "(PostgreSQL 14 or newer)",
        "sqlite:///petstore.db",
        is_secret=True,  # it may contain a password
    )
    prepared_statements: bool = described_by(
        "PETSTORE_PREPARED_STATEMENTS",
        whole_number(0, 1),
        "set it to 0 behind PgBouncer in transaction mode",
        "1",
    )
    redis_url: str | None = described_by(
        "REDIS_URL",
        redis_url,
        "where requests are counted, Redis 6 or newer; see [below](#redis). Without it "
        "they are counted in the database",
        is_secret=True,
    )
    port: int = described_by(
        "PORT", whole_number(1, 65_535), "the port to listen on", "8000"
    )
    workers: int = described_by(
        "WEB_CONCURRENCY",
        whole_number(1, 1000),
        "the number of worker processes",
        str(min(usable_processors(), MAX_WORKERS)),
        f"one per usable processor, at most {MAX_WORKERS}",
    )
    secret_key: str | None = described_by(
        "SECRET_KEY",
        secret,
        "signs the sessions of the dashboard; at least 16 characters",
        default_meaning="created once and stored in the database",
        is_secret=True,
    )
    trusted_proxies: int = described_by(
        "PETSTORE_TRUSTED_PROXIES",
        whole_number(0, 100),
        "how many reverse proxies in front are trusted for X-Forwarded-For and "
        "X-Forwarded-Proto",
        "0",
    )
    production_url: str | None = described_by(
        "PETSTORE_PRODUCTION_URL",
        base_url,
        "the base address in the interface description, including `/v1`",
    )
    staging_url: str | None = described_by(
        "PETSTORE_STAGING_URL", base_url, "the same for a staging environment"
    )
    ban_after: int = described_by(
        "PETSTORE_BAN_AFTER",
        whole_number(1, 1_000_000),
        "how many refusals within a minute [ban a key](api.md#limits)",
        "10",
    )
    ban_seconds: int = described_by(
        "PETSTORE_BAN_SECONDS",
        whole_number(1, 31_536_000),
        "how long a ban lasts",
        "300",
    )
    cors_origins: tuple[str, ...] = described_by(
        "PETSTORE_CORS_ORIGINS",
        origins,
        "the origins whose pages may call the API, separated by commas",
        "*",
    )
    base_domain: str | None = described_by(
        "PETSTORE_BASE_DOMAIN",
        domain,
        "enables [host routing](domains.md): each project is served at "
        "`SLUG.BASE_DOMAIN` and at its own domains",
    )
    dns_servers: tuple[Address, ...] = described_by(
        "PETSTORE_DNS_SERVERS",
        addresses,
        "`HOST:PORT,…`, the servers that are asked when a domain is verified",
        default_meaning="those of the system",
        unset=(),
    )
    tls_address: Address | None = described_by(  # noqa: RUF009 (it makes a field)
        "PETSTORE_TLS_ADDRESS",
        address,
        "where the TLS proxy listens; the service makes the first handshake for a new "
        "domain there",
        default_meaning="`BASE_DOMAIN:443`",
    )
    new_domains_per_day: int = described_by(
        "PETSTORE_NEW_DOMAINS_PER_DAY",
        whole_number(1, 1_000_000),
        "how many domains a project may verify for the first time in a UTC day; each "
        "is an order of a certificate",
        "20",
    )
    contact: str | None = described_by(
        "PETSTORE_CONTACT",
        contact,
        "whom pages name for another plan: a URL, or an email address",
    )
    metrics_directory: str | None = described_by(
        "PROMETHEUS_MULTIPROC_DIR",
        str,
        "where workers keep their metrics; only their own files are deleted there",
        default_meaning="a directory of the service's own, deleted when it ends",
    )


def described_settings() -> dict[str, Setting]:
    """Return the description of each setting, by the name of its field."""
    return {field.name: field.metadata["setting"] for field in fields(Settings)}


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read every setting; an empty variable counts as not set.

    Raises `SettingError` for the first one that is not valid.
    """
    settings = Settings(
        **{
            name: _parsed(setting, environ.get(setting.name))
            for name, setting in described_settings().items()
        }
    )
    if settings.base_domain and not settings.tls_address:
        tls_address = Address(settings.base_domain, HTTPS_PORT)
        return replace(settings, tls_address=tls_address)
    return settings


def _parsed(setting: Setting, text: str | None) -> Any:
    text = text or setting.default
    try:
        return setting.parse(text) if text else setting.unset
    except ValueError as error:
        raise SettingError(f"{setting.name}: {error}") from None


def unknown_settings(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return a sentence for each variable that looks like a setting, but is none."""
    known = [setting.name for setting in described_settings().values()]
    return [
        f"{name} is not a setting of this service"
        for name in sorted(environ)
        if name.startswith("PETSTORE_") and name not in known
    ]
