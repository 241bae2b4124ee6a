"""Settings of host routing: their defaults, and errors for invalid values."""

import pytest

from petstore.settings import SettingError, read_settings
from tests import servers


def test_without_a_base_domain_there_is_no_host_routing():
    settings = read_settings({})
    assert settings.base_domain is None
    assert settings.dns_servers == ()
    assert settings.tls_address is None


def test_tls_address_defaults_to_the_base_domain():
    settings = read_settings({"PETSTORE_BASE_DOMAIN": "Pets.Example.net."})
    assert settings.base_domain == "pets.example.net"
    assert settings.tls_address == ("pets.example.net", 443)


def test_addresses_are_read():
    settings = read_settings(
        {
            "PETSTORE_DNS_SERVERS": "192.0.2.1:53, [2001:db8::1]:5353,dns.example:53",
            "PETSTORE_TLS_ADDRESS": "[::1]:8443",
        }
    )
    assert settings.dns_servers[1] == ("2001:db8::1", 5353)
    assert len(settings.dns_servers) == 3
    assert settings.tls_address == ("::1", 8443)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PETSTORE_BASE_DOMAIN", "https://pets.example.net"),
        ("PETSTORE_BASE_DOMAIN", "pets.example.net:443"),
        ("PETSTORE_BASE_DOMAIN", "192.0.2.1"),
        ("PETSTORE_BASE_DOMAIN", "*.example.net"),
        ("PETSTORE_BASE_DOMAIN", "pets..example.net"),
        ("PETSTORE_BASE_DOMAIN", "pëts.example.net"),
        ("PETSTORE_BASE_DOMAIN", "a." * 95 + "net"),
        ("PETSTORE_DNS_SERVERS", "192.0.2.1"),
        ("PETSTORE_DNS_SERVERS", "192.0.2.1:53,"),
        ("PETSTORE_DNS_SERVERS", "192.0.2.1:0"),
        ("PETSTORE_DNS_SERVERS", "2001:db8::1"),
        ("PETSTORE_TLS_ADDRESS", "proxy:65536"),
        ("PETSTORE_TLS_ADDRESS", "a:1,b:2"),
        ("PETSTORE_TLS_ADDRESS", "https://proxy:443"),
    ],
)
def test_invalid_setting_is_named_in_the_error(name: str, text: str):
    with pytest.raises(SettingError, match=f"^{name}: must be .*not '"):
        read_settings({name: text})


def test_command_line_reports_an_invalid_setting_in_one_line(sqlite_url: str):
    environ = {"DATABASE_URL": sqlite_url, "PETSTORE_BASE_DOMAIN": "no domain"}
    done = servers.flask(environ, "projects", "list")
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "PETSTORE_BASE_DOMAIN" in done.stderr
