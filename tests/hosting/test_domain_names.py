"""Normalisation of domain names, and the names that are refused."""

import pytest

from petstore.hosting.dns import Record
from petstore.hosting.names import is_apex, normalised, readable
from petstore.models.domains import DomainNotAllowed
from tests.harness.host_fixtures import BASE


def test_names_are_normalised():
    for typed, name in (
        ("shop.example.org", "shop.example.org"),
        ("  Shop.EXAMPLE.org.\n", "shop.example.org"),
        ("bücher.example.org", "xn--bcher-kva.example.org"),
        ("XN--BCHER-KVA.example.org", "xn--bcher-kva.example.org"),
        ("faß.example.org", "xn--fa-hia.example.org"),
        ("shop。example。org", "shop.example.org"),
        ("ＳＨＯＰ.example.org", "shop.example.org"),
        ("https://shop.example.org/", "shop.example.org"),
        ("HTTP://Shop.example.org:8443/a/b?c=d:1#e", "shop.example.org"),
        ("shop.example.org/v1", "shop.example.org"),
        ("shop.example.org:443", "shop.example.org"),
        (" <https://shop.example.org?x>\u200b", "shop.example.org"),
        *((same, same) for same in ("4.example.org", "me.github.io", "example.net")),
        *((same, same) for same in ("a" * 63 + ".test.example.org", f"not-{BASE}")),
    ):
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
        *("https://", "ftp://shop.example.org", "https://me@shop.example.org/"),
        *("https://192.0.2.1/", "https://*.example.org/", "https://[2001:db8::1]/"),
        *("192.0.2.1", "192.0.2.1.", "１９２.0.2.1", "192.0.2.1。", "0x7f.1"),
        *("3221225985", "2001:db8::1", "[2001:db8::1]"),
        *("a_b.example.org", "-a.example.org", "a..example.org", "shop.example.org.."),
        *(".", "xn--a.example.org", "shop .example.org", "shop\0.example.org"),
        *("<b>.example.org", "☃.example.org", "a" * 64 + ".example.org"),
        *("a." * 125 + "example.org", "ü" * 100_000, ":" * 60_000 + "1" * 5),
        "ü." * 60 + "example.org",  # its A-labels are longer than a name may be
    ],
}


def test_invalid_name_is_refused_with_advice():
    for advice, typed in NO_NAMES.items():
        for name in typed:
            with pytest.raises(DomainNotAllowed, match=advice):
                normalised(name, BASE)


def test_apex_is_determined_by_the_public_suffix_list():
    for name in ("example.org", "example.co.uk", "me.github.io", "xn--bcher-kva.de"):
        assert is_apex(name)
        assert not is_apex(f"www.{name}")


def test_names_are_shown_as_people_write_them():
    assert Record("TXT", "example.co.uk", "token").label == "@"
    assert Record("TXT", "_petstore.example.org", "token").label == "_petstore"
    assert readable("xn--bcher-kva.example.org") == "bücher.example.org"
