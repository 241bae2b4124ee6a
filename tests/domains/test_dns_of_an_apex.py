"""Verification of an apex by the target's addresses and a TXT record."""

import pytest

from petstore.domains.dns import DnsResult, check_dns
from petstore.domains.records import Record, RequiredRecords
from tests.hosts.dns_server import DnsServer

TARGET = "shelter.pets.example.net"
APEX = RequiredRecords("example.org", TARGET, "token-1")


@pytest.fixture
def nameserver(nameserver: DnsServer) -> DnsServer:
    """A DNS server with all the records that prove the apex."""
    nameserver.put(TARGET, "CNAME", "proxy.example.net")
    nameserver.put("proxy.example.net", "A", "192.0.2.1", "192.0.2.2")
    nameserver.put("proxy.example.net", "AAAA", "2001:db8::1")
    nameserver.put("example.org", "A", "192.0.2.2", "192.0.2.1")
    nameserver.put("example.org", "AAAA", "2001:db8:0::1")
    nameserver.put("_petstore.example.org", "TXT", '"v=spf1 -all"', '"token" "-1"')
    return nameserver


def ask(server: DnsServer) -> DnsResult:
    return check_dns(APEX, (server.address,))


def test_apex_requires_alias_and_txt_records():
    assert APEX.records == (
        Record("ALIAS or ANAME", "example.org", TARGET, 3600),
        Record("TXT", "_petstore.example.org", "token-1", 3600),
    )


def test_subdomain_requires_only_a_cname_record():
    wanted = RequiredRecords("shop.example.org", TARGET, "token-1")
    assert wanted.records == (Record("CNAME", "shop.example.org", TARGET, 3600),)


def test_target_addresses_and_token_prove_the_apex(nameserver: DnsServer):
    assert ask(nameserver).is_proved


def test_ipv4_addresses_alone_are_sufficient(nameserver: DnsServer):
    del nameserver.records["example.org"]["AAAA"]
    assert ask(nameserver).is_proved


def test_cname_at_the_apex_is_sufficient(nameserver: DnsServer):
    nameserver.records = {"example.org": {"CNAME": [TARGET]}}
    assert ask(nameserver).is_proved


def test_addresses_without_txt_prove_nothing(nameserver: DnsServer):
    del nameserver.records["_petstore.example.org"]
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "TXT record at _petstore.example.org that holds token-1" in finding.text


def test_the_token_of_another_project_proves_nothing(nameserver: DnsServer):
    nameserver.put("_petstore.example.org", "TXT", '"token-2"')
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "holds “token-2”" in finding.text


def test_txt_content_is_shown_truncated_and_sanitised(nameserver: DnsServer):
    nameserver.put("_petstore.example.org", "TXT", '"\\007' + "x" * 200 + '"')
    finding = ask(nameserver)
    assert "“�" + "x" * 79 + "”" in finding.text


def test_token_with_a_wrong_address_proves_nothing(nameserver: DnsServer):
    nameserver.put("example.org", "A", "192.0.2.1", "198.51.100.9")
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "192.0.2.1, 198.51.100.9" in finding.text
    assert "Create the ALIAS or ANAME record" in finding.text


def test_missing_address_is_reported(nameserver: DnsServer):
    nameserver.records["example.org"] = {}
    assert "example.org has no address" in ask(nameserver).text


def test_a_target_without_address_is_the_operators_fault(nameserver: DnsServer):
    del nameserver.records["proxy.example.net"]
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "for the operators of the service" in finding.text
