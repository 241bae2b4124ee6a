"""Verification in DNS: by a CNAME record, or by the addresses and a TXT record."""

import time
from collections.abc import Callable

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import pytest

from petstore.extensions.hosting import dns as module
from petstore.extensions.hosting.dns import (
    NO_SERVER,
    WHOSE,
    Lookup,
    RequiredRecords,
    Unanswered,
    check_dns,
)
from petstore.extensions.hosting.models import DnsResult
from petstore.settings import Address
from tests.harness.dns_server import DnsServer, rrset

NAME, TARGET = "shop.example.org", "shelter.pets.example.net"
PROOF = "_petstore.example.org"
SHOP = RequiredRecords(NAME, TARGET, "token-1")
APEX = RequiredRecords("example.org", TARGET, "token-1")


def check(server: DnsServer, required: RequiredRecords = SHOP) -> DnsResult:
    return check_dns(required, (server.address,))


def fault(server: DnsServer, required: RequiredRecords = SHOP) -> str:
    """Return why the domain is not verified."""
    result = check(server, required)
    assert not result.is_verified
    return result.text


def fail(answer: dns.message.Message, _: bool) -> None:
    answer.set_rcode(dns.rcode.SERVFAIL)


def test_cname_chain_to_the_target_verifies_the_domain(nameserver: DnsServer):
    nameserver.put(NAME, "CNAME", TARGET)
    nameserver.put(TARGET, "CNAME", "proxy.example.net")
    assert check(nameserver).is_verified
    nameserver.put(NAME, "CNAME", "A.example.org")
    nameserver.put("a.example.org", "CNAME", TARGET.upper())
    result = check(nameserver)
    assert result.is_verified
    assert f"{NAME} → a.example.org → {TARGET}" in result.text


def test_what_is_found_is_shown_with_the_record_to_create(nameserver: DnsServer):
    nameserver.put(TARGET, "A", "9.9.9.1")
    internal = {"A": ["10.1.2.3", "9.9.9.1"], "AAAA": ["fd00::1", "::ffff:10.1.2.4"]}
    for records, found in (
        (internal, "only the addresses 9.9.9.1 and an address that is not public."),
        ({"A": ["169.254.169.254"]}, "only an address that is not public."),
        ({}, f"{NAME} has no CNAME record yet, and no address. Create the CNAME"),
        ({"A": ["9.9.9.1"]}, "no CNAME record, only the addresses 9.9.9.1. Create"),
        ({"CNAME": ["typo.example.net"]}, f"Found {NAME} → typo.example.net. Change"),
        (
            {"A": [f"9.9.9.{n}" for n in range(10, 30)]},
            "9.9.9.10, 9.9.9.11, 9.9.9.12, ",
        ),
    ):
        nameserver.records[NAME] = records
        text = fault(nameserver)
        assert found in text
        assert f"points it at {TARGET}" in text or f"points at {TARGET}" in text


def test_internal_names_are_neither_followed_nor_shown(nameserver: DnsServer):
    for internal in ("db.internal", "printer.local", "localhost", "ldap.corp", "db"):
        nameserver.queries.clear()
        nameserver.put(NAME, "CNAME", internal)
        nameserver.put(internal, "CNAME", "secret.internal")
        text = fault(nameserver)
        assert f"{NAME} → a name that is not public. Change" in text
        assert internal not in text.split()
        assert nameserver.queries == [(NAME, "CNAME")]


def test_what_an_internal_alias_holds_is_not_shown(apex_server: DnsServer):
    for name, kind, held in (
        ("example.org", "A", [rrset("db.internal", "A", "9.9.9.77")]),
        ("example.org", "A", []),
        (PROOF, "TXT", [rrset("db.internal", "TXT", "secret")]),
    ):

        def twist(
            answer: dns.message.Message, _: bool, *, asked=(name, kind), held=held
        ):
            question = answer.question[0]
            of = dns.rdatatype.to_text(question.rdtype)
            if (question.name.to_text(True), of) == asked:
                answer.answer[:] = [rrset(asked[0], "CNAME", "db.internal"), *held]
                answer.set_rcode(dns.rcode.NOERROR if held else dns.rcode.NXDOMAIN)

        apex_server.twist = twist
        expected = f"{name} is an alias of a name that is not public."
        assert fault(apex_server, APEX) == expected


def test_cname_loop_and_long_chain_are_not_followed_for_ever(nameserver: DnsServer):
    for length in (1, 2, 5):
        nameserver.queries.clear()
        names = [NAME, *(f"n{i}.example.org" for i in range(1, length))]
        for name, following in zip(names, [*names[1:], NAME], strict=True):
            nameserver.put(name, "CNAME", following)
        assert f"→ {NAME}. Change" in fault(nameserver)
        assert len(nameserver.queries) == length
    nameserver.queries.clear()
    for i in range(100):
        nameserver.put(f"n{i}.example.org", "CNAME", f"n{i + 1}.example.org")
    nameserver.put(NAME, "CNAME", "n0.example.org")
    assert "→ n7.example.org. Change" in fault(nameserver)
    assert len(nameserver.queries) == 8


@pytest.fixture
def apex_server(nameserver: DnsServer) -> DnsServer:
    """A DNS server with all the records that verify the apex."""
    nameserver.put(TARGET, "CNAME", "proxy.internal")  # of the operator's network
    nameserver.put("proxy.internal", "A", "9.9.9.1", "9.9.9.2")
    nameserver.put("proxy.internal", "AAAA", "2620:fe::9")
    nameserver.put("example.org", "A", "9.9.9.2", "9.9.9.1")
    nameserver.put("example.org", "AAAA", "2620:fe:0::9")
    nameserver.put(PROOF, "TXT", '"v=spf1 -all"', '"token" "-1"')
    return nameserver


def test_addresses_and_token_or_a_cname_verify_an_apex(apex_server: DnsServer):
    assert check(apex_server, APEX).is_verified
    del apex_server.records["example.org"]["AAAA"]  # one kind of address is enough
    assert check(apex_server, APEX).is_verified
    apex_server.records = {"example.org": {"CNAME": [TARGET]}}
    assert check(apex_server, APEX).is_verified


def test_what_is_found_at_an_apex_instead_is_shown(apex_server: DnsServer):
    right = {name: dict(kinds) for name, kinds in apex_server.records.items()}
    for name, records, found in (
        ("example.org", {}, "no ALIAS or ANAME record yet, and no address. Create the"),
        (
            "example.org",
            {"A": ["9.9.9.1", "8.8.8.8"]},
            f"has the addresses 8.8.8.8, 9.9.9.1, but {TARGET} has the addresses 2620:",
        ),
        (PROOF, {}, f"addresses are right. Create a TXT record at {PROOF} that holds"),
        (PROOF, {"TXT": ['"token-2\\007"']}, 'the TXT record holds "token-2\\007".'),
    ):
        apex_server.records = right | {name: records}
        assert found in fault(apex_server, APEX)


def test_caa_records_that_forbid_the_certificate_are_told(apex_server: DnsServer):
    right = {name: dict(kinds) for name, kinds in apex_server.records.items()}
    right[NAME] = {"A": ["9.9.9.1"]}
    right[f"_petstore.{NAME}"] = {"TXT": ["token-1"]}
    for name, records, is_told in (
        (NAME, ['0 issue "pki.goog; a=b"'], True),
        ("example.org", ['0 issue "digicert.com"', '0 iodef "mailto:a@b.org"'], True),
        ("org", ['128 Issue ";"'], True),
        ("example.org", ['0 issuewild "digicert.com"'], False),
        ("example.org", ['0 issue "x.org"', '0 issue "LetsEncrypt.org ; a=b"'], False),
        ("example.org", ['0 issue " sectigo.com"'], False),
    ):
        apex_server.records = {each: dict(kinds) for each, kinds in right.items()}
        apex_server.put(name, "CAA", *records)
        result = check(apex_server)
        assert result.is_verified
        told = f"The CAA records of {name} allow no certificate of Let's Encrypt"
        assert (told in result.text) is is_told


def test_closest_caa_records_count_and_none_without_an_answer(nameserver: DnsServer):
    def fail_caa(answer: dns.message.Message, is_tcp: bool) -> None:
        if answer.question[0].rdtype == dns.rdatatype.CAA:
            fail(answer, is_tcp)

    nameserver.put(NAME, "CNAME", TARGET)
    nameserver.put(TARGET, "CAA", '0 issue "letsencrypt.org"')
    nameserver.put("example.org", "CAA", '0 issue "digicert.com"')
    assert "CAA" not in check(nameserver).text
    nameserver.put(TARGET, "CAA", '0 issue "digicert.com"')
    assert f"CAA records of {NAME} allow no" in check(nameserver).text
    nameserver.twist = fail_caa
    assert check(nameserver).is_verified


def test_a_target_without_address_is_the_operators_fault(apex_server: DnsServer):
    del apex_server.records["proxy.internal"]
    assert "only the operators of the service" in fault(apex_server, APEX)
    assert check(apex_server, APEX).is_verified is None


def test_queries_share_timeout(nameserver: DnsServer, set_limits: Callable[..., None]):
    set_limits(dns_seconds=0.3)
    for i in range(8):
        nameserver.put(f"n{i}.example.org", "CNAME", f"n{i + 1}.example.org")
    nameserver.twist = lambda *_: time.sleep(0.1)
    result = check(nameserver, RequiredRecords("n0.example.org", TARGET, "token-1"))
    assert result.is_verified is None
    assert "was not resolved in time" in result.text


def cut(answer: dns.message.Message, is_tcp: bool) -> None:
    """Leave the answer to TCP, as a server does whose answer does not fit."""
    if not is_tcp:
        answer.answer.clear()
        answer.flags |= dns.flags.TC


def test_tcp_answer_is_bounded(apex_server: DnsServer, monkeypatch: pytest.MonkeyPatch):
    parsed = []
    call = lambda parse, wire: parsed.append(len(wire)) or parse(wire)  # noqa: E731
    monkeypatch.setattr(module, "call_in_thread", call)
    apex_server.twist = cut
    others = [f'"{number:03}{"x" * 200}"' for number in range(71)]
    apex_server.put(PROOF, "TXT", *others, "token-1")
    assert check(apex_server, APEX).is_verified
    assert 15_000 < max(parsed) < 16 * 1024  # in a thread, since it takes long
    apex_server.put(PROOF, "TXT", *others, *(f'"y{text[2:]}' for text in others))
    assert "answered with an error, or with too much" in fault(apex_server, APEX)
    assert max(parsed) < 16 * 1024


def test_broken_answer_is_none(nameserver: DnsServer, set_limits: Callable[..., None]):
    set_limits(dns_seconds=0.4, dns_server_seconds=0.3)
    nameserver.put(NAME, "CNAME", TARGET)

    def truncate(answer: dns.message.Message, _: bool) -> None:
        answer.flags |= dns.flags.TC

    def confuse(answer: dns.message.Message, is_tcp: bool) -> None:
        cut(answer, is_tcp)
        answer.id ^= is_tcp

    def refuse(answer: dns.message.Message, _: bool) -> None:
        answer.set_rcode(dns.rcode.REFUSED)

    for twist in (truncate, confuse, refuse, fail):
        nameserver.twist = twist
        assert f"answered with an error, or with too much. {WHOSE}" in fault(nameserver)
    nameserver.twist, nameserver.pause_seconds = cut, 0.02
    began = time.monotonic()
    assert "was not resolved in time" in fault(nameserver)
    assert time.monotonic() - began < 2


def test_unresolved_server_keeps_no_other_from_being_asked(nameserver: DnsServer):
    nameserver.put(NAME, "CNAME", TARGET)
    unknown = Address("dns.invalid", 53)
    for servers in ((unknown, nameserver.address), (nameserver.address, unknown)):
        assert check_dns(SHOP, servers).is_verified
    assert check_dns(SHOP, (unknown,)).text == f"{NO_SERVER}."


def test_machine_without_a_dns_server_is_told_of(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise dns.resolver.NoResolverConfiguration

    monkeypatch.setattr(dns.resolver, "Resolver", refuse)
    with pytest.raises(Unanswered, match="only its operators can put this right"):
        Lookup(())
