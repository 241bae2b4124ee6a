"""Checks of the settings: their values without secrets, and the versions."""

import re
from typing import Any

from petstore.cli.checks.results import Result
from petstore.settings import (
    INTERFACE,
    RELEASE,
    Settings,
    read_settings,
    unknown_settings,
    variables,
)


def check_version(_settings: Settings) -> Result:
    """Name the release, and the version of the interface that it serves."""
    return "ok", f"Pet Store Service {RELEASE}, with the interface {INTERFACE}"


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
        variable: _text(name, getattr(settings, name))
        for variable, name in variables().items()
        if getattr(settings, name) != getattr(defaults, name)
    }


def _text(field: str, value: Any) -> str:
    if field == "secret_key":
        return "set"
    if field in ("database_url", "redis_url"):
        return url_text(value)
    return ",".join(map(str, value)) if type(value) is tuple else str(value)


def url_text(url: str) -> str:
    """Return the URL of a store without its user, password and options."""
    return re.sub("://[^/]*@", "://", url.partition("?")[0])
