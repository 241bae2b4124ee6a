"""The DNS records of a domain: which are required, and what a check has found."""

import ipaddress
from dataclasses import dataclass
from typing import NamedTuple

from petstore.hosting.names import is_apex, is_public, proof_name, registered
from petstore.hosting.resolver import NoSuchName, NotPublic, Resolver, Unanswered
from petstore.settings.addresses import Address

TTL_SECONDS = 3600  # specification section 1
MAX_CNAMES = 8
SHOWN_LENGTH = 80
SHOWN_ADDRESSES = 4
# What is internal to the operator's network is not shown to projects.
INTERNAL_NAME = "a name that is not public"
INTERNAL_ADDRESS = "an address that is not public"


class Record(NamedTuple):
    """A record that the owner of a domain has to create."""

    kind: str
    name: str
    value: str
    ttl: int = TTL_SECONDS

    @property
    def label(self) -> str:
        """The name relative to its zone, as most DNS providers ask for it."""
        zone = registered(self.name)
        return "@" if self.name == zone else self.name.removesuffix(f".{zone}")


@dataclass(frozen=True, slots=True)
class RequiredRecords:
    """What DNS has to contain before a domain is verified."""

    name: str
    target: str  # the project's generated subdomain
    token: str

    @property
    def records(self) -> tuple[Record, ...]:
        """A CNAME record; for an apex, which cannot have one, ALIAS and TXT."""
        if not is_apex(self.name):
            return (Record("CNAME", self.name, self.target),)
        return (
            Record("ALIAS or ANAME", self.name, self.target),
            Record("TXT", proof_name(self.name), self.token),
        )


class DnsResult(NamedTuple):
    """Whether DNS proves the domain, and a sentence for its owner."""

    is_proved: bool | None  # None if DNS has not answered, which says nothing
    text: str


class _Unproved(Exception):
    """DNS does not contain what is required; the text is for the domain's owner."""


class _TargetUnknown(Exception):
    """DNS does not know the target itself, which is no fault of the domain's owner."""


async def check_dns(
    required: RequiredRecords, servers: tuple[Address, ...]
) -> DnsResult:
    """Check a domain in DNS, within `timeouts.LIMITS.dns_seconds`."""
    try:
        return DnsResult(True, await _Check(required, Resolver(servers)).proof())
    except _Unproved as reason:
        return DnsResult(False, str(reason))
    except Unanswered as reason:
        advice = "check its DNS servers, or try again later"
        return DnsResult(None, f"{reason}; {advice}.")
    except NotPublic as name:
        return DnsResult(False, f"{name} is an alias of {INTERNAL_NAME}.")
    except _TargetUnknown as reason:
        return DnsResult(None, str(reason))


@dataclass(frozen=True, slots=True)
class _Check:
    """One check of a domain.

    Its methods raise `_Unproved`, `_TargetUnknown` and `Unanswered`.
    """

    required: RequiredRecords
    resolver: Resolver

    async def proof(self) -> str:
        name, target = self.required.name, self.required.target
        chain = await self._chain()
        if chain[-1] == target:
            return f"{_arrows(chain)}: the CNAME record is right."
        if len(chain) > 1:
            raise _Unproved(
                f"Found {_arrows(chain)}. Change the CNAME record of {name} "
                f"so that it points at {target}."
            )
        addresses = await self.resolver.addresses(name)
        if not is_apex(name):
            raise _Unproved(self._missing_cname(addresses))
        right = await self.resolver.addresses(target, may_be_internal=True)
        self._require(addresses, right)
        await self._require_token()
        return f"{name} has the addresses of {target}, and the TXT record."

    async def _chain(self) -> list[str]:
        """Return the names that the CNAME records lead through, the domain first."""
        name, target = self.required.name, self.required.target
        chain = [name]
        while chain[-1] != target:
            cname = await self._cname(chain)
            if cname is None:
                break
            if cname != target and not is_public(cname):
                raise _Unproved(
                    f"Found {_arrows([*chain, INTERNAL_NAME])}. "
                    f"Point {name} at {target}."
                )
            if cname in chain or len(chain) > MAX_CNAMES:
                fault = "runs in a circle" if cname in chain else "is too long"
                raise _Unproved(
                    f"The CNAME chain {fault}: {_arrows([*chain, cname])}. "
                    f"Point {name} at {target} directly."
                )
            chain.append(cname)
        return chain

    async def _cname(self, chain: list[str]) -> str | None:
        try:
            return await self.resolver.cname(chain[-1])
        except NoSuchName:
            if len(chain) == 1:
                raise _Unproved(
                    f"DNS does not know {chain[0]} yet. {self._advice()}; "
                    "a new record may take an hour to be seen everywhere."
                ) from None
            raise _Unproved(
                f"Found {_arrows(chain)}, which does not exist. "
                f"Point {chain[0]} at {self.required.target}."
            ) from None

    def _missing_cname(self, addresses: set[str]) -> str:
        name = self.required.name
        if not addresses:
            return f"{name} has no CNAME record. {self._advice()}."
        return (
            f"{name} has no CNAME record, only {_some(addresses)}. "
            f"{self._advice()} instead."
        )

    def _require(self, found: set[str], right: set[str]) -> None:
        """Require that the domain has no other addresses than its target."""
        name, target = self.required.name, self.required.target
        if not right:
            raise _TargetUnknown(
                f"{target} itself has no address in DNS; "
                "this is for the operators of the service to put right."
            )
        if not found:
            raise _Unproved(f"{name} has no address. {self._advice()}.")
        if not found <= right:
            raise _Unproved(
                f"{name} has {_some(found)}, "
                f"but {target} has {_some(right)}. "
                f"{self._advice()} in place of what is there."
            )

    async def _require_token(self) -> None:
        name, token = proof_name(self.required.name), self.required.token
        advice = f"Create a TXT record at {name} that holds {token}"
        texts = await self.resolver.texts(name)
        if not texts:
            raise _Unproved(f"The addresses are right. {advice}.")
        if token not in texts:
            raise _Unproved(
                "The addresses are right, but the TXT record holds "
                f"{_shown(texts[0])}. {advice}."
            )

    def _advice(self) -> str:
        kind = self.required.records[0].kind
        return f"Create the {kind} record that points it at {self.required.target}"


def _arrows(chain: list[str]) -> str:
    return " → ".join(chain)


def _some(addresses: set[str]) -> str:
    public = sorted(filter(_is_public_address, addresses))
    shown = public[:SHOWN_ADDRESSES] + ["…"] * (len(public) > SHOWN_ADDRESSES)
    words = [f"the addresses {', '.join(shown)}"] if public else []
    if len(public) < len(addresses):
        words.append(INTERNAL_ADDRESS)
    return " and ".join(words)


def _is_public_address(text: str) -> bool:
    address = ipaddress.ip_address(text)
    return (getattr(address, "ipv4_mapped", None) or address).is_global


def _shown(text: str) -> str:
    short = text[:SHOWN_LENGTH]
    return "“" + "".join(c if c.isprintable() else "�" for c in short) + "”"
