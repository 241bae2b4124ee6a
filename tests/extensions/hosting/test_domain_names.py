"""Normalisation of domain names, and the names that are refused."""

from pathlib import Path

import pytest
import yaml

from petstore.extensions.hosting.dns import Record
from petstore.extensions.hosting.models import DomainNotAllowed
from petstore.extensions.hosting.names import is_apex, normalised, readable
from tests.extensions.hosting.fixtures import BASE

NAMES = yaml.safe_load(Path(__file__).with_name("domain_names.yaml").read_text())


def test_names_are_normalised():
    long, like_ours = "a" * 63 + ".test.example.org", f"not-{BASE}"
    same = dict.fromkeys((long, like_ours))
    for typed, name in (NAMES["normalised"] | same).items():
        assert normalised(typed, BASE) == (name or typed)


# Longer than a name may be; the last one only with its A-labels.
TOO_LONG = ("a." * 125 + "example.org", "ü" * 100_000, ":" * 60_000 + "1" * 5)
TOO_LONG += ("ü." * 60 + "example.org",)


def test_invalid_name_is_refused_with_advice():
    refused = NAMES["refused"] | {"not a valid domain": TOO_LONG}
    for advice, typed in refused.items():
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
