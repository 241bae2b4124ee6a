"""The check of the settings shows all of them, without secrets."""

from petstore.checks.settings import (
    check_settings,
    redis_text,
    settings_text,
)
from petstore.settings import read_settings

SECRET = "Geheimnis-Geheimnis"


def test_every_setting_is_shown():
    asked = []

    class Environment(dict):
        def get(self, name: str, default: str | None = None) -> str | None:
            asked.append(name)
            return default

    settings = read_settings(Environment())
    assert sorted(settings_text(settings)) == sorted(asked)


def test_secrets_are_not_shown():
    settings = read_settings(
        {
            "DATABASE_URL": f"postgres://pets:{SECRET}@db:5433/pets?password={SECRET}",
            "REDIS_URL": f"rediss://me:{SECRET}@cache:6380/1?ssl_cert_reqs=none",
            "SECRET_KEY": SECRET,
        }
    )
    shown = check_settings(settings).message
    assert SECRET not in shown
    assert "DATABASE_URL=postgresql://pets@db:5433/pets " in shown
    assert "REDIS_URL=rediss://cache:6380/1?ssl_cert_reqs=none " in shown
    assert "SECRET_KEY=set " in shown


def test_sentinel_url_is_shown_without_its_password():
    url = f"redis+sentinel://:{SECRET}@a:1,b:2/main"
    assert redis_text(url) == "redis+sentinel://a:1,b:2/main"
