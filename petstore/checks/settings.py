"""Checks of the settings: their values without secrets, and the versions."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from psycopg.conninfo import conninfo_to_dict

from petstore import version
from petstore.checks.results import CheckResult
from petstore.settings import Settings


def check_version(_settings: Settings) -> CheckResult:
    """Name the release, and the version of the interface that it serves."""
    return CheckResult.ok(
        "version",
        f"Pet Store Service {version.SERVICE}, with the interface {version.INTERFACE}",
    )


def check_settings(settings: Settings) -> CheckResult:
    """Show the value of every setting on one line, defaults included."""
    pairs = settings_text(settings).items()
    return CheckResult.ok(
        "settings", " ".join(f"{name}={text}" for name, text in pairs)
    )


def settings_text(settings: Settings) -> dict[str, str]:
    """Return the text of each setting by the name of its variable."""
    return {
        "DATABASE_URL": database_text(settings.database_url),
        "REDIS_URL": redis_text(settings.redis_url),
        "PETSTORE_PREPARED_STATEMENTS": str(int(settings.prepared_statements)),
        "PORT": str(settings.port),
        "WEB_CONCURRENCY": str(settings.workers),
        "SECRET_KEY": "set" if settings.secret_key else "none",
        "PETSTORE_TRUSTED_PROXIES": str(settings.trusted_proxies),
        "PETSTORE_PRODUCTION_URL": settings.production_url or "none",
        "PETSTORE_STAGING_URL": settings.staging_url or "none",
        "PETSTORE_BAN_AFTER": str(settings.ban_after),
        "PETSTORE_BAN_SECONDS": str(settings.ban_seconds),
        "PETSTORE_CORS_ORIGINS": _list(settings.cors_origins),
        "PETSTORE_BASE_DOMAIN": settings.base_domain or "none",
        "PETSTORE_DNS_SERVERS": _list(settings.dns_servers),
        "PETSTORE_TLS_ADDRESS": str(settings.tls_address or "none"),
    }


def database_text(url: str) -> str:
    """Return the URL of a database without its password."""
    if url.startswith("sqlite:"):
        return url
    parts = conninfo_to_dict(url)
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    mode = f"?sslmode={parts['sslmode']}" if "sslmode" in parts else ""
    return f"postgresql://{user}{parts.get('host', '')}{port}/{parts['dbname']}{mode}"


def redis_text(url: str | None) -> str:
    """Return the URL of Redis without user and password."""
    if url is None:
        return "none"
    parts = urlsplit(url)
    servers = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=servers).geturl()


def _list(values: Iterable[object]) -> str:
    return ",".join(map(str, values)) or "none"
