"""Normalisation of domain names, and the names that are refused."""

import pytest

from petstore.hosting import names
from petstore.hosting.dns import Record
from petstore.hosting.names import is_apex, normalised, readable
from petstore.models.domains import DomainNotAllowed
from tests.harness.host_fixtures import BASE


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("shop.example.org", "shop.example.org"),
        ("  Shop.EXAMPLE.org.\n", "shop.example.org"),
        ("bücher.example.org", "xn--bcher-kva.example.org"),
        ("XN--BCHER-KVA.example.org", "xn--bcher-kva.example.org"),
        ("faß.example.org", "xn--fa-hia.example.org"),
        ("shop。example。org", "shop.example.org"),
        ("ＳＨＯＰ.example.org", "shop.example.org"),
        ("4.example.org", "4.example.org"),
        ("a" * 63 + ".example.org", "a" * 63 + ".example.org"),
        ("me.github.io", "me.github.io"),
        ("example.net", "example.net"),
        ("test.example.org", "test.example.org"),
        (f"not-{BASE}", f"not-{BASE}"),
    ],
)
def test_names_are_normalised(typed: str, name: str):
    assert normalised(typed, BASE) == name


NO_NAMES = {
    "public suffix": ["org", "co.uk", "github.io"],
    "for special use": [
        *("localhost", "db.internal", "printer.local", "Shop.TEST.", "a.b.example"),
        *("shop.invalid", "x.onion", "x.alt", "1.0.0.10.in-addr.arpa", "a.home.arpa"),
    ],
    "belongs to this service": [BASE, f"Shelter.{BASE.upper()}.", f"a.b.{BASE}"],
    "not a valid domain name": [
        *("", " ", "*.example.org", "me@example.org"),
        *("https://shop.example.org", "shop.example.org/v1", "shop.example.org:443"),
        *("192.0.2.1", "192.0.2.1.", "１９２.0.2.1", "192.0.2.1。", "0x7f.1"),
        *("3221225985", "2001:db8::1", "[2001:db8::1]"),
        *("a_b.example.org", "-a.example.org", "a..example.org", "shop.example.org.."),
        *(".", "xn--a.example.org", "shop .example.org", "shop\0.example.org"),
        *("<b>.example.org", "☃.example.org", "a" * 64 + ".example.org"),
        *("a." * 125 + "example.org", "ü" * 100_000),
        "ü." * 60 + "example.org",  # its A-labels are longer than a name may be
    ],
}


@pytest.mark.parametrize(
    ("typed", "advice"),
    [(typed, advice) for advice, names in NO_NAMES.items() for typed in names],
)
def test_invalid_name_is_refused_with_advice(typed: str, advice: str):
    with pytest.raises(DomainNotAllowed, match=advice):
        normalised(typed, BASE)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("example.org", True),
        ("shop.example.org", False),
        ("example.co.uk", True),
        ("www.example.co.uk", False),
        ("me.github.io", True),
        ("xn--bcher-kva.de", True),
    ],
)
def test_apex_is_determined_by_the_public_suffix_list(name: str, expected: bool):
    assert is_apex(name) is expected


@pytest.mark.parametrize(
    ("name", "label"), [("example.co.uk", "@"), ("_petstore.example.org", "_petstore")]
)
def test_record_is_labelled_by_its_name_within_the_zone(name: str, label: str):
    assert Record("TXT", name, "token").label == label


def test_punycode_is_decoded_for_display():
    assert readable("xn--bcher-kva.example.org") == "bücher.example.org"


@pytest.fixture
def unread() -> None:
    names.suffixes.cache_clear()


@pytest.mark.usefixtures("unread", "app")
def test_list_of_suffixes_is_read_before_the_first_request(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(names, "PublicSuffixList", None)
    assert names.is_apex("example.org")
