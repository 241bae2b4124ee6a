"""The check of the settings shows what differs from its default, without secrets."""

import pytest

from petstore.cli.checks.settings import changed_settings, check_settings
from petstore.settings import read_settings

SECRET = "Geheimnis-Geheimnis"


def test_only_settings_that_differ_from_their_default_are_shown():
    settings = read_settings({"PORT": "8000", "PETSTORE_BAN_AFTER": "5"})
    assert check_settings(settings) == ("ok", "PETSTORE_BAN_AFTER=5")
    assert check_settings(read_settings({})) == ("ok", "each has its default")


def test_lists_and_addresses_are_shown_as_they_are_written():
    environ = {
        "PETSTORE_CORS_ORIGINS": "https://a.example,https://b.example",
        "PETSTORE_DNS_SERVERS": "192.0.2.1:53,192.0.2.2:53",
        "PETSTORE_TLS_ADDRESS": "192.0.2.3:443",
    }
    assert changed_settings(read_settings(environ)) == environ


def test_unknown_setting_is_a_warning(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PETSTORE_TRUSTED_PROXY", "1")
    status, message = check_settings(read_settings({}))
    assert status == "warning"
    assert message.startswith("PETSTORE_TRUSTED_PROXY is not a setting of this service")


def test_secrets_are_not_shown():
    settings = read_settings(
        {
            "DATABASE_URL": f"postgres://pets:{SECRET}@db:5433/pets?password={SECRET}",
            "REDIS_URL": f"rediss://me:{SECRET}@cache:6380/1?ssl_cert_reqs=none",
            "SECRET_KEY": SECRET,
        }
    )
    _, shown = check_settings(settings)
    assert SECRET not in shown
    assert "DATABASE_URL=postgresql://db:5433/pets " in shown
    assert "REDIS_URL=rediss://cache:6380/1 " in shown
    assert "SECRET_KEY=set" in shown
