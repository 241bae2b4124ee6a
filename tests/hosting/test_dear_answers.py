"""An answer of DNS is bounded before it is parsed, by what parsing costs."""

import asyncio
import itertools
from collections.abc import Callable

import dns.flags
import dns.message
import pytest

from petstore import timeouts
from petstore.hosting import resolver
from petstore.hosting.dns import DnsResult, RequiredRecords, check_dns
from tests.harness.dns_server import DnsServer, rrset

NAME, TARGET = "shop.example.org", "shelter.pets.example.net"
DEEP = "a." * 100 + NAME
RESPONSE = 0x80  # in the third byte
# Answers with little in them that take long to parse, or that no check needs.
DEAR = {
    "many records": rrset(NAME, "A", *(f"192.0.2.{n}" for n in range(33))),
    "a name of many parts": rrset(DEEP, "A", "192.0.2.1"),
    "an alias of many parts": rrset(NAME, "CNAME", DEEP),
    "a kind that was not asked for": rrset(NAME, "LOC", "52 22 23 N 4 53 32 E 0m"),
    "many bytes": rrset(NAME, "TXT", *(f'"{n}{"x" * 200}"' for n in range(10))),
}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[dns.message.Message]:
    """The answers that were parsed, as they come."""
    parsed = []
    from_wire = dns.message.from_wire

    def record(wire: bytes, **options: bool) -> dns.message.Message:
        message = from_wire(wire, **options)
        if wire[2] & RESPONSE:
            parsed.append(message)
        return message

    monkeypatch.setattr(resolver.dns.message, "from_wire", record)
    return parsed


def check(server: DnsServer) -> DnsResult:
    required = RequiredRecords(NAME, TARGET, "token-1")
    return asyncio.run(check_dns(required, (server.address,)))


@pytest.mark.parametrize("dear", DEAR.values(), ids=DEAR)
def test_dear_answer_is_not_parsed(
    nameserver: DnsServer, parsed: list[dns.message.Message], dear: dns.rrset.RRset
):
    nameserver.put(NAME, "CNAME", TARGET)
    nameserver.twist = lambda answer, _: answer.answer.append(dear)
    assert "or with too much" in check(nameserver).text
    assert parsed == []


def test_large_answer_over_tcp_is_not_read(
    nameserver: DnsServer, parsed: list[dns.message.Message]
):
    def enlarge(answer: dns.message.Message, is_tcp: bool) -> None:
        if is_tcp:
            texts = (f'"{n}{"x" * 250}"' for n in range(200))
            answer.answer.append(rrset(NAME, "TXT", *texts))
        else:
            answer.flags |= dns.flags.TC

    nameserver.put(NAME, "CNAME", TARGET)
    nameserver.twist = enlarge
    assert "or with too much" in check(nameserver).text
    assert parsed == []


def test_only_the_answers_of_a_response_are_parsed(
    nameserver: DnsServer, parsed: list[dns.message.Message]
):
    others = [rrset(f"ns{n}.example.org", "A", "192.0.2.1") for n in range(40)]
    nameserver.put(NAME, "CNAME", TARGET)
    nameserver.twist = lambda answer, _: answer.additional.extend(others)
    assert check(nameserver).is_proved
    assert [message.additional for message in parsed] == [[]]


def test_a_check_parses_only_so_many_answers(
    nameserver: DnsServer,
    set_limits: Callable[..., None],
    parsed: list[dns.message.Message],
):
    set_limits(dns_answers=3)
    nameserver.put(NAME, "CNAME", "n0.example.org")
    for n in range(6):
        nameserver.put(f"n{n}.example.org", "CNAME", f"n{n + 1}.example.org")
    assert "or with too much" in check(nameserver).text
    assert len(parsed) == 3


def test_longest_legal_chain_needs_less_than_is_allowed(
    nameserver: DnsServer, parsed: list[dns.message.Message]
):
    long = "x" * 40
    names = [NAME, *(f"{long}-{n}.{long}.example.org" for n in range(7)), TARGET]
    for name, following in itertools.pairwise(names):
        nameserver.put(name, "CNAME", following)
    assert check(nameserver).is_proved
    assert len(parsed) * 2 < timeouts.LIMITS.dns_answers
