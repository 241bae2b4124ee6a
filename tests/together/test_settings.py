"""Settings from the environment: defaults, accepted values and errors."""

from pathlib import Path

import pytest
import yaml

from petstore.extensions import EXTENSIONS
from petstore.settings import SettingError, read_settings, unknown_settings

PASSWORD = "Geheimnis"  # as in these values
VALUES = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text())
NUMBERS = VALUES["numbers"]


def test_empty_setting_counts_as_unset():
    class Empty(dict):
        def get(self, *_: object) -> str:
            return ""

    assert read_settings(Empty()) == read_settings({})


@pytest.mark.parametrize("name", NUMBERS)
def test_number_is_in_its_range(name: str):
    field, smallest, greatest = NUMBERS[name]
    for number in (smallest, greatest):
        assert getattr(read_settings({name: str(number)}), field) == number
    for number in (smallest - 1, greatest + 1, 10**30):
        with pytest.raises(SettingError, match=f"^{name}: must be "):
            read_settings({name: str(number)})


@pytest.mark.parametrize(
    "text", ["x", "+1", "1.0", "1e1", "0x1", "1 ", " 1", "1\n", "1_0", "١", "²"]
)
def test_non_integer_is_refused(text: str):
    with pytest.raises(SettingError, match=r"^PORT: must be a whole number"):
        read_settings({"PORT": text})


VALID = VALUES["valid"]
INVALID = VALUES["invalid"]


def pairs_of(settings: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Return each value with the name of its setting."""
    return [(name, value) for name in settings for value in settings[name]]


@pytest.mark.parametrize(("name", "value"), pairs_of(VALID))
def test_valid_value_is_kept(name: str, value: str):
    field = name.removeprefix("PETSTORE_").lower()
    kept = value.replace("postgres:", "postgresql:")
    assert getattr(read_settings({name: value}), field) == kept


@pytest.mark.parametrize(("name", "value"), pairs_of(INVALID))
def test_invalid_value_is_refused_with_the_name_of_the_setting(name: str, value: str):
    with pytest.raises(SettingError) as refusal:
        read_settings({name: value})
    message = str(refusal.value)
    assert message.startswith(f"{name}: ")
    assert len(message.splitlines()) == 1
    assert PASSWORD not in message


def test_tls_address_defaults_to_the_base_domain():
    settings = read_settings({"PETSTORE_BASE_DOMAIN": "Pets.Example.net."})
    assert settings.base_domain == "pets.example.net"
    assert settings.tls_address == ("pets.example.net", 443)


def test_extensions_are_kept_in_the_order_of_their_list():
    for text, names in (
        ("none", ()),
        (" openapi ", ("openapi",)),
        (",".join(reversed(EXTENSIONS)), tuple(EXTENSIONS)),
        ("", tuple(EXTENSIONS)),
    ):
        assert read_settings({"PETSTORE_EXTENSIONS": text}).extensions == names


def test_addresses_are_read():
    addresses = "192.0.2.1:53, [2001:db8::1]:5353,dns.example:53"
    settings = read_settings({"PETSTORE_DNS_SERVERS": addresses})
    assert settings.dns_servers[1:] == (("2001:db8::1", 5353), ("dns.example", 53))


def test_unknown_settings_are_named():
    environ = {"PETSTORE_X": "1", "PETSTORE_BAN_AFTER": "9", "PORT": "1"}
    assert unknown_settings(environ) == ["PETSTORE_X is not a setting of this service"]


def test_variables_of_a_kubernetes_service_are_not_taken_for_settings():
    tcp = "tcp://10.96.0.7:8000"
    environ = {
        "PETSTORE_SERVICE_HOST": "10.96.0.7",
        "PETSTORE_SERVICE_PORT": "8000",
        "PETSTORE_SERVICE_PORT_HTTP": "8000",
        "PETSTORE_PORT": tcp,
        "PETSTORE_PORT_8000_TCP": tcp,
        "PETSTORE_PORT_8000_TCP_PROTO": "tcp",
        "PETSTORE_PORT_8000_TCP_PORT": "8000",
        "PETSTORE_PORT_8000_TCP_ADDR": "10.96.0.7",
    }
    assert unknown_settings(environ) == []
    for name in ("PETSTORE_PORT", "PETSTORE_PORTS", "PETSTORE_SERVICE_HOSTS"):
        assert len(unknown_settings({name: "8000"})) == 1


def test_repr_of_settings_contains_no_secrets():
    settings = read_settings(
        {
            "DATABASE_URL": f"postgresql://u:{PASSWORD}@h/d",
            "REDIS_URL": f"rediss://:{PASSWORD}@h/0",
            "SECRET_KEY": f"{PASSWORD}1234567",  # as short as it may be
        }
    )
    assert settings.secret_key == f"{PASSWORD}1234567"
    assert PASSWORD not in repr(settings)
