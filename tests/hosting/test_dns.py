"""Verification in DNS: by a CNAME record, or by the addresses and a TXT record."""

import time
from collections.abc import Callable

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from petstore.hosting.dns import DnsResult, Record, RequiredRecords, check_dns
from petstore.settings import Address
from tests.harness.dns_server import DnsServer, rrset

TARGET = "shelter.pets.example.net"
SHOP = RequiredRecords("shop.example.org", TARGET, "token-1")
APEX = RequiredRecords("example.org", TARGET, "token-1")


def check(server: DnsServer, required: RequiredRecords = SHOP) -> DnsResult:
    return check_dns(required, (server.address,))


def fault(server: DnsServer, required: RequiredRecords = SHOP) -> str:
    """Return why the domain is not proved."""
    result = check(server, required)
    assert not result.is_verified
    return result.text


def test_subdomain_requires_only_a_cname_record():
    assert SHOP.records == (Record("CNAME", "shop.example.org", TARGET, 3600),)


def test_apex_requires_alias_and_txt_records():
    assert APEX.records == (
        Record("ALIAS or ANAME", "example.org", TARGET, 3600),
        Record("TXT", "_petstore.example.org", "token-1", 3600),
    )


def test_a_cname_to_the_target_proves_the_domain(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", TARGET)
    nameserver.put(TARGET, "CNAME", "proxy.example.net")
    assert check(nameserver).is_verified


def test_cname_chain_to_the_target_proves_the_domain(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", "a.example.org")
    nameserver.put("a.example.org", "CNAME", "B.example.org")
    nameserver.put("b.example.org", "CNAME", TARGET.upper())
    result = check(nameserver)
    assert result.is_verified
    assert f"a.example.org → b.example.org → {TARGET}" in result.text


def test_unknown_name_is_reported_with_the_record_to_create(nameserver: DnsServer):
    text = fault(nameserver)
    assert "DNS does not know shop.example.org yet" in text
    assert f"Create the CNAME record that points it at {TARGET}" in text


def test_cname_to_another_target_proves_nothing(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", "rival.pets.example.net")
    nameserver.put("rival.pets.example.net", "A", "9.9.9.1")
    text = fault(nameserver)
    assert "shop.example.org → rival.pets.example.net." in text
    assert f"points at {TARGET}" in text


def test_cname_to_an_unknown_name_proves_nothing(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", "typo.example.net")
    assert "shop.example.org → typo.example.net. Change" in fault(nameserver)


def test_addresses_instead_of_a_cname_prove_nothing(nameserver: DnsServer):
    nameserver.put(TARGET, "A", "9.9.9.1")
    nameserver.put("shop.example.org", "A", "9.9.9.1")
    assert "no CNAME record, only the addresses 9.9.9.1" in fault(nameserver)


def test_internal_addresses_are_not_shown(nameserver: DnsServer):
    nameserver.put("shop.example.org", "A", "10.1.2.3", "9.9.9.1")
    nameserver.put("shop.example.org", "AAAA", "fd00::1", "::ffff:10.1.2.4")
    text = fault(nameserver)
    assert "only the addresses 9.9.9.1 and an address that is not public." in text
    nameserver.put("shop.example.org", "A", "169.254.169.254")
    assert "only an address that is not public." in fault(nameserver)


@pytest.mark.parametrize(
    "internal", ["db.internal", "printer.local", "localhost", "ldap.corp", "db"]
)
def test_internal_names_are_neither_followed_nor_shown(
    nameserver: DnsServer, internal: str
):
    nameserver.put("shop.example.org", "CNAME", internal)
    nameserver.put(internal, "CNAME", "secret.internal")
    text = fault(nameserver)
    assert "shop.example.org → a name that is not public. Change" in text
    assert internal not in text.split()
    assert nameserver.queries == [("shop.example.org", "CNAME")]


@pytest.mark.parametrize("kind", ["A", "TXT"])
@pytest.mark.parametrize("exists", [True, False])
def test_what_an_internal_alias_holds_is_not_shown(
    apex_server: DnsServer, kind: str, exists: bool
):
    name = {"A": "example.org", "TXT": "_petstore.example.org"}[kind]
    alias = rrset(name, "CNAME", "db.internal")

    def twist(answer: dns.message.Message, _is_tcp: bool) -> None:
        question = answer.question[0]
        if (question.name.to_text(True), question.rdtype) == (name, alias_kind):
            answer.answer[:] = [alias]
            if exists:
                value = {"A": "9.9.9.77", "TXT": "secret"}[kind]
                answer.answer.append(rrset("db.internal", kind, value))
            else:
                answer.set_rcode(dns.rcode.NXDOMAIN)

    alias_kind = dns.rdatatype.from_text(kind)
    apex_server.twist = twist
    assert (
        fault(apex_server, APEX) == f"{name} is an alias of a name that is not public."
    )


def test_the_target_may_lead_to_an_internal_name(apex_server: DnsServer):
    apex_server.put(TARGET, "CNAME", "proxy.internal")
    apex_server.put("proxy.internal", "A", "9.9.9.1", "9.9.9.2")
    apex_server.put("proxy.internal", "AAAA", "2620:fe::9")
    assert check(apex_server, APEX).is_verified


@pytest.mark.parametrize("length", [1, 2, 5])
def test_cname_loop_is_followed_once(nameserver: DnsServer, length: int):
    names = ["shop.example.org", *(f"n{i}.example.org" for i in range(1, length))]
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        nameserver.put(name, "CNAME", following)
    assert "→ shop.example.org. Change" in fault(nameserver)
    assert len(nameserver.queries) == length


def test_long_cname_chain_is_not_followed_to_its_end(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", "n0.example.org")
    for i in range(100):
        nameserver.put(f"n{i}.example.org", "CNAME", f"n{i + 1}.example.org")
    assert "→ n7.example.org. Change" in fault(nameserver)
    assert len(nameserver.queries) == 8


@pytest.fixture
def apex_server(nameserver: DnsServer) -> DnsServer:
    """A DNS server with all the records that prove the apex."""
    nameserver.put(TARGET, "CNAME", "proxy.example.net")
    nameserver.put("proxy.example.net", "A", "9.9.9.1", "9.9.9.2")
    nameserver.put("proxy.example.net", "AAAA", "2620:fe::9")
    nameserver.put("example.org", "A", "9.9.9.2", "9.9.9.1")
    nameserver.put("example.org", "AAAA", "2620:fe:0::9")
    nameserver.put("_petstore.example.org", "TXT", '"v=spf1 -all"', '"token" "-1"')
    return nameserver


def test_target_addresses_and_token_prove_the_apex(apex_server: DnsServer):
    assert check(apex_server, APEX).is_verified
    del apex_server.records["example.org"]["AAAA"]  # one kind of address is enough
    assert check(apex_server, APEX).is_verified


def test_cname_at_the_apex_is_sufficient(apex_server: DnsServer):
    apex_server.records = {"example.org": {"CNAME": [TARGET]}}
    assert check(apex_server, APEX).is_verified


def test_addresses_without_txt_prove_nothing(apex_server: DnsServer):
    del apex_server.records["_petstore.example.org"]
    advice = "TXT record at _petstore.example.org that holds token-1"
    assert advice in fault(apex_server, APEX)


def test_the_token_of_another_project_proves_nothing(apex_server: DnsServer):
    apex_server.put("_petstore.example.org", "TXT", '"token-2"')
    assert "holds “token-2”" in fault(apex_server, APEX)


def test_txt_content_is_shown_truncated_and_sanitised(apex_server: DnsServer):
    apex_server.put("_petstore.example.org", "TXT", '"\\007' + "x" * 200 + '"')
    assert "“�" + "x" * 79 + "”" in fault(apex_server, APEX)


def test_token_with_a_wrong_address_proves_nothing(apex_server: DnsServer):
    apex_server.put("example.org", "A", "9.9.9.1", "8.8.8.8")
    text = fault(apex_server, APEX)
    assert "8.8.8.8, 9.9.9.1" in text
    assert "Create the ALIAS or ANAME record" in text


def test_missing_address_is_reported(apex_server: DnsServer):
    apex_server.records["example.org"] = {}
    assert "example.org has no address" in fault(apex_server, APEX)


def test_a_target_without_address_is_the_operators_fault(apex_server: DnsServer):
    del apex_server.records["proxy.example.net"]
    assert "for the operators of the service" in fault(apex_server, APEX)


def test_silent_server_times_out(
    nameserver: DnsServer, set_limits: Callable[..., None]
):
    set_limits(dns_seconds=0.2)
    nameserver.is_silent = True
    assert "shop.example.org was not resolved in time" in fault(nameserver)


def test_all_queries_of_a_check_share_one_timeout(
    nameserver: DnsServer, set_limits: Callable[..., None]
):
    set_limits(dns_seconds=0.3)
    for i in range(8):
        nameserver.put(f"n{i}.example.org", "CNAME", f"n{i + 1}.example.org")
    nameserver.twist = lambda *_: time.sleep(0.1)
    required = RequiredRecords("n0.example.org", TARGET, "token-1")
    assert "in time" in fault(nameserver, required)


@pytest.mark.parametrize("rcode", [dns.rcode.SERVFAIL, dns.rcode.REFUSED])
def test_server_error_is_reported(nameserver: DnsServer, rcode: dns.rcode.Rcode):
    nameserver.twist = lambda answer, _: answer.set_rcode(rcode)
    assert "answer with an error" in fault(nameserver)


def test_truncated_answer_is_retried_over_tcp(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", TARGET)

    def truncate(answer: dns.message.Message, is_tcp: bool) -> None:
        if not is_tcp:
            answer.flags |= dns.flags.TC
            answer.answer.clear()

    nameserver.twist = truncate
    assert check(nameserver).is_verified
    assert len(nameserver.queries) == 2


NOWHERE = Address("dns.invalid", 53)


@pytest.mark.parametrize("is_first", [True, False])
def test_server_whose_name_does_not_resolve_keeps_no_other_from_being_asked(
    nameserver: DnsServer, is_first: bool
):
    nameserver.put("shop.example.org", "CNAME", TARGET)
    known = nameserver.address
    servers = (NOWHERE, known) if is_first else (known, NOWHERE)
    assert check_dns(SHOP, servers).is_verified


DEEP = "a." * 20 + "example.org"
# Answers with little in them that take long to parse, or that no check needs.
COSTLY = {
    "many records": rrset("x.org", "A", *(f"192.0.2.{n}" for n in range(33))),
    "a name of many labels": rrset(DEEP, "A", "192.0.2.1"),
    "an alias of many labels": rrset("x.org", "CNAME", DEEP),
    "a kind that was not asked for": rrset("x.org", "LOC", "52 22 23 N 4 53 32 E 0m"),
    "many bytes": rrset("x.org", "TXT", *(f'"{n}{"x" * 200}"' for n in range(10))),
}


@pytest.mark.parametrize("is_tcp", [False, True])
@pytest.mark.parametrize("costly", COSTLY.values(), ids=COSTLY)
def test_answer_that_is_costly_to_parse_is_refused(
    nameserver: DnsServer, costly: dns.rrset.RRset, is_tcp: bool
):
    def twist(answer: dns.message.Message, over_tcp: bool) -> None:
        if over_tcp == is_tcp:
            answer.answer.append(costly)
        else:
            answer.flags |= dns.flags.TC

    nameserver.put("shop.example.org", "CNAME", TARGET)
    nameserver.twist = twist
    assert "or with too much" in fault(nameserver)
