"""An apex has no CNAME: the target's addresses and a TXT record prove it instead."""

import pytest

from petstore.domains.dns import DnsResult, check_dns
from petstore.domains.records import Record, RequiredRecords
from tests.hosts.dns_server import DnsServer

TARGET = "shelter.pets.example.net"
APEX = RequiredRecords("example.org", TARGET, "token-1")


@pytest.fixture
def nameserver(nameserver: DnsServer) -> DnsServer:
    """Everything as it should be; the tests spoil it."""
    nameserver.put(TARGET, "CNAME", "proxy.example.net")
    nameserver.put("proxy.example.net", "A", "192.0.2.1", "192.0.2.2")
    nameserver.put("proxy.example.net", "AAAA", "2001:db8::1")
    nameserver.put("example.org", "A", "192.0.2.2", "192.0.2.1")
    nameserver.put("example.org", "AAAA", "2001:db8:0::1")
    nameserver.put("_petstore.example.org", "TXT", '"v=spf1 -all"', '"token" "-1"')
    return nameserver


def ask(server: DnsServer) -> DnsResult:
    return check_dns(APEX, (server.address,))


def test_the_records_to_create_are_shown():
    assert APEX.records == (
        Record("ALIAS or ANAME", "example.org", TARGET, 3600),
        Record("TXT", "_petstore.example.org", "token-1", 3600),
    )


def test_a_name_below_needs_a_cname_alone():
    wanted = RequiredRecords("shop.example.org", TARGET, "token-1")
    assert wanted.records == (Record("CNAME", "shop.example.org", TARGET, 3600),)


def test_the_same_addresses_and_the_token_prove_it(nameserver: DnsServer):
    assert ask(nameserver).is_proved


def test_a_provider_that_flattens_ipv4_alone_will_do(nameserver: DnsServer):
    del nameserver.records["example.org"]["AAAA"]
    assert ask(nameserver).is_proved


def test_a_cname_at_the_apex_proves_it_by_itself(nameserver: DnsServer):
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


def test_what_a_txt_record_holds_is_shown_clipped_and_clean(nameserver: DnsServer):
    nameserver.put("_petstore.example.org", "TXT", '"\\007' + "x" * 200 + '"')
    finding = ask(nameserver)
    assert "“�" + "x" * 79 + "”" in finding.text


def test_the_token_without_the_addresses_proves_nothing(nameserver: DnsServer):
    nameserver.put("example.org", "A", "192.0.2.1", "198.51.100.9")
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "192.0.2.1, 198.51.100.9" in finding.text
    assert "Create the ALIAS or ANAME record" in finding.text


def test_no_address_at_all(nameserver: DnsServer):
    nameserver.records["example.org"] = {}
    assert "example.org has no address" in ask(nameserver).text


def test_a_target_without_address_is_the_operators_fault(nameserver: DnsServer):
    del nameserver.records["proxy.example.net"]
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "for the operators of the service" in finding.text
