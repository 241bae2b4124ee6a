"""Checks of the settings: their values without secrets, and the versions."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from petstore.cli.checks.results import Result
from petstore.settings import (
    Settings,
    described_settings,
    read_settings,
    unknown_settings,
    version,
)
from petstore.settings.urls import postgresql_parts


def check_version(_settings: Settings) -> Result:
    """Name the release, and the version of the interface that it serves."""
    interface = f"with the interface {version.INTERFACE}"
    return "ok", f"Pet Store Service {version.SERVICE}, {interface}"


def check_settings(settings: Settings) -> Result:
    """Show each setting that differs from its default, and name unknown ones."""
    pairs = changed_settings(settings).items()
    text = " ".join(f"{name}={text}" for name, text in pairs)
    text = text or "each has its default"
    if unknown := unknown_settings():
        return "warning", ". ".join([*unknown, text])
    return "ok", text


def changed_settings(settings: Settings) -> dict[str, str]:
    """Return each setting that differs from its default, without secrets."""
    defaults = read_settings({})
    return {
        setting.name: _text(field, getattr(settings, field))
        for field, setting in described_settings().items()
        if getattr(settings, field) != getattr(defaults, field)
    }


def _text(field: str, value: Any) -> str:
    if field in SECRETS:
        return SECRETS[field](value)
    return ",".join(map(str, value)) if type(value) is tuple else str(value)


def database_text(url: str) -> str:
    """Return the URL of a database without its password."""
    if url.startswith("sqlite:"):
        return url
    parts = postgresql_parts(url)
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    mode = f"?sslmode={parts['sslmode']}" if "sslmode" in parts else ""
    return f"postgresql://{user}{parts.get('host', '')}{port}/{parts['dbname']}{mode}"


def redis_text(url: str) -> str:
    """Return the URL of Redis without user and password."""
    parts = urlsplit(url)
    servers = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=servers).geturl()


# How the settings that contain a secret are shown.
SECRETS: dict[str, Callable[[str], str]] = {
    "database_url": database_text,
    "redis_url": redis_text,
    "secret_key": lambda _key: "set",
}
