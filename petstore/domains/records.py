"""The DNS records that point a domain here and prove whose it is."""

from dataclasses import dataclass
from typing import NamedTuple

from petstore.domains.names import is_apex, proof_name, registered

TTL_SECONDS = 3600  # specification section 1


class Record(NamedTuple):
    """A record to create."""

    kind: str
    name: str
    value: str
    ttl: int = TTL_SECONDS

    @property
    def label(self) -> str:
        """The name as most providers want it: without the domain that it is part of."""
        zone = registered(self.name)
        return "@" if self.name == zone else self.name.removesuffix(f".{zone}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What DNS has to say of a domain before it is verified."""

    name: str
    target: str  # the project's generated subdomain
    token: str

    @property
    def records(self) -> tuple[Record, ...]:
        """What the owner creates: a CNAME; an apex cannot have one."""
        if not is_apex(self.name):
            return (Record("CNAME", self.name, self.target),)
        return (
            Record("ALIAS or ANAME", self.name, self.target),
            Record("TXT", proof_name(self.name), self.token),
        )
