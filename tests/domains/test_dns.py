"""Verification of a subdomain by its CNAME record, and the reasons for failure."""

import time

import dns.flags
import dns.message
import dns.rcode
import pytest

from petstore.addresses import Address
from petstore.domains import resolver
from petstore.domains.dns import DnsResult, check_dns
from petstore.domains.records import RequiredRecords
from tests.hosts.dns_server import DnsServer, rrset

TARGET = "shelter.pets.example.net"
SHOP = RequiredRecords("shop.example.org", TARGET, "token-1")


def ask(server: DnsServer, wanted: RequiredRecords = SHOP) -> DnsResult:
    return check_dns(wanted, (server.address,))


def test_a_cname_to_the_target_proves_the_domain(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", TARGET)
    assert ask(nameserver).is_proved


def test_cname_chain_to_the_target_proves_the_domain(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", "a.example.org")
    nameserver.put("a.example.org", "CNAME", "B.example.org")
    nameserver.put("b.example.org", "CNAME", TARGET.upper())
    finding = ask(nameserver)
    assert finding.is_proved
    assert f"a.example.org → b.example.org → {TARGET}" in finding.text


def test_cname_of_the_target_itself_is_ignored(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", TARGET)
    nameserver.put(TARGET, "CNAME", "proxy.example.net")
    assert ask(nameserver).is_proved


def test_unknown_name_is_reported_with_the_record_to_create(nameserver: DnsServer):
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "DNS does not know shop.example.org yet" in finding.text
    assert f"Create the CNAME record that points it at {TARGET}" in finding.text


def test_cname_to_another_target_proves_nothing(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", "rival.pets.example.net")
    nameserver.put("rival.pets.example.net", "A", "192.0.2.1")
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "shop.example.org → rival.pets.example.net." in finding.text
    assert f"points at {TARGET}" in finding.text


def test_cname_to_an_unknown_name_proves_nothing(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", "typo.example.net")
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "typo.example.net, which does not exist" in finding.text


def test_addresses_instead_of_a_cname_prove_nothing(nameserver: DnsServer):
    nameserver.put(TARGET, "A", "192.0.2.1")
    nameserver.put("shop.example.org", "A", "192.0.2.1")
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "no CNAME record, only the addresses 192.0.2.1" in finding.text


def test_missing_cname_is_reported(nameserver: DnsServer):
    nameserver.put("shop.example.org", "TXT", '"token-1"')
    finding = ask(nameserver)
    assert "has no CNAME record. Create" in finding.text
    assert "instead" not in finding.text


@pytest.mark.parametrize("length", [1, 2, 5])
def test_cname_loop_is_reported(nameserver: DnsServer, length: int):
    names = ["shop.example.org", *(f"n{i}.example.org" for i in range(1, length))]
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        nameserver.put(name, "CNAME", following)
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "runs in a circle" in finding.text


def test_long_cname_chain_is_not_followed_to_its_end(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", "n0.example.org")
    for i in range(100):
        nameserver.put(f"n{i}.example.org", "CNAME", f"n{i + 1}.example.org")
    finding = ask(nameserver)
    assert "is too long" in finding.text
    assert len(nameserver.asked) < 12


def test_silent_server_times_out(
    nameserver: DnsServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(resolver, "CHECK_SECONDS", 0.5)
    nameserver.twist = lambda answer, is_tcp: None
    finding = ask(nameserver)
    assert "shop.example.org was not resolved in time" in finding.text


def test_all_queries_of_a_check_share_one_timeout(
    nameserver: DnsServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(resolver, "CHECK_SECONDS", 0.5)
    for i in range(8):
        nameserver.put(f"n{i}.example.org", "CNAME", f"n{i + 1}.example.org")

    def dawdle(answer: dns.message.Message, is_tcp: bool) -> dns.message.Message:
        time.sleep(0.15)
        return answer

    nameserver.twist = dawdle
    finding = ask(nameserver, RequiredRecords("n0.example.org", TARGET, "token-1"))
    assert "in time" in finding.text


@pytest.mark.parametrize("rcode", [dns.rcode.SERVFAIL, dns.rcode.REFUSED])
def test_server_error_is_reported(nameserver: DnsServer, rcode: dns.rcode.Rcode):
    def fail(answer: dns.message.Message, is_tcp: bool) -> dns.message.Message:
        answer.set_rcode(rcode)
        return answer

    nameserver.twist = fail
    finding = ask(nameserver)
    assert not finding.is_proved
    assert "answer with an error" in finding.text


def test_truncated_answer_is_retried_over_tcp(nameserver: DnsServer):
    nameserver.put("shop.example.org", "CNAME", TARGET)

    def truncate(answer: dns.message.Message, is_tcp: bool) -> dns.message.Message:
        if not is_tcp:
            answer.flags |= dns.flags.TC
            answer.answer.clear()
        return answer

    nameserver.twist = truncate
    assert ask(nameserver).is_proved
    assert len(nameserver.asked) == 2


def test_unreachable_server_proves_nothing(
    nameserver: DnsServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(resolver, "CHECK_SECONDS", 0.5)
    finding = check_dns(SHOP, (Address("127.0.0.1", 9),))
    assert not finding.is_proved


LIES = {
    "for another name": lambda answer: answer.answer.append(
        rrset("other.example.org", "CNAME", TARGET)
    ),
    "with another number": lambda answer: setattr(answer, "id", answer.id ^ 1),
    "to another question": lambda answer: answer.question.__setitem__(
        slice(None), [rrset("other.example.org", "CNAME")]
    ),
    "in the additional section": lambda answer: answer.additional.append(
        rrset("shop.example.org", "CNAME", TARGET)
    ),
    "as a question": lambda answer: setattr(
        answer, "flags", answer.flags & ~dns.flags.QR
    ),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_forged_answer_proves_nothing(
    nameserver: DnsServer, monkeypatch: pytest.MonkeyPatch, lie: object
):
    monkeypatch.setattr(resolver, "CHECK_SECONDS", 0.5)
    nameserver.put("shop.example.org", "TXT", '"x"')

    def twist(answer: dns.message.Message, is_tcp: bool) -> dns.message.Message:
        lie(answer)
        return answer

    nameserver.twist = twist
    assert not ask(nameserver).is_proved
