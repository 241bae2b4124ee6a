"""DNS records that point a domain at this service and prove who owns it."""

from dataclasses import dataclass
from typing import NamedTuple

from petstore.domains.names import is_apex, proof_name, registered

TTL_SECONDS = 3600  # specification section 1


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
