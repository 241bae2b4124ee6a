"""The settings: environment variables, read once, checked and frozen.

A field of `Settings` names its variable, the function that checks and converts the
text, and the default. The string below it is the meaning in docs/operating.md.
"""

import math
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from petstore.extensions import EXTENSIONS

# The version of the service, described in CHANGELOG.md.
RELEASE = "1.5.0"
# How the service's own worker calls itself in the environ of a request.
SERVER_SOFTWARE = f"petstore/{RELEASE}"
# The version in the interface description (specification section 9). It stays the same
# as long as /v1 does.
INTERFACE = "1.0.0"

MAX_WORKERS = 8
HTTPS_PORT = 443
MIN_SECRET_LENGTH = 16

SHARED_MEMORY = "/dev/shm"  # noqa: S108 (the files in it are private)
MEMORY = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")  # contains its path after 0::, in version 2

LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
# The last label is not a number, so an IP address is not a name.
_NAME = rf"({LABEL}\.)*(?![0-9]+$){LABEL}"
_DOMAIN = rf"(?=.{{1,189}}$){_NAME}"  # a slug must fit in front
_HOST = rf"(?ai)(?=.{{1,253}}$){_NAME}"
_ORIGIN = r"https?://[a-z0-9.:\[\]-]+"  # browsers send it in lower case
_SITE = r"https?://[A-Za-z0-9.:\[\]-]+"
_EMAIL = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*"
# No white space, and %XX wherever there is a percent sign.
_ESCAPED = r"(?!.*(%(?![0-9A-Fa-f]{2})|\s))"
_USER = r"([^/?#]*@)?"
# The variables that Kubernetes sets for a Service named `petstore`, as NAME=value. It
# never sets PETSTORE_PORT to a plain number, so that is somebody's mistake.
_KUBERNETES = r"PETSTORE_(SERVICE_(HOST|PORT\w*)=|PORT_[0-9]+_[A-Z]+|PORT=\w+://)"
_SERVER = r"[^/?#@,]+"
_SERVERS = rf"{_SERVER}:[0-9]+(,{_SERVER}:[0-9]+)*"


class SettingError(ValueError):
    """A setting is not valid; the text names it and says what it must be."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def number(smallest: int, greatest: int) -> Callable[[str], int]:
    """Return a function that reads a number in a range; it raises ValueError."""

    def convert(text: str) -> int:
        if re.fullmatch("[0-9]{1,9}", text) and smallest <= int(text) <= greatest:
            return int(text)
        wanted = f"a whole number from {smallest} to {greatest}"
        raise ValueError(f"must be {wanted}, not {text!r}")

    return convert


def secret(text: str) -> str:
    is_long = len(text.strip()) >= MIN_SECRET_LENGTH
    if is_long and not re.search("[\ud800-\udfff]", text):
        return text
    least = f"{MIN_SECRET_LENGTH} characters between the outer blanks"
    raise ValueError(f"must have at least {least}, in UTF-8")


def domain(text: str) -> str:
    name = text.lower().removesuffix(".")
    if re.fullmatch(_DOMAIN, name):
        return name
    raise ValueError("must be a domain like pets.example.org, without scheme and port")


def address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    with suppress(ValueError):
        if re.fullmatch(r"\[[0-9A-Fa-f:.]+\]", host):
            host = host[1:-1]
            IPv6Address(host)
        elif not re.fullmatch(_HOST, host.removesuffix(".")):
            IPv4Address(host)
        return Address(host, number(1, 65_535)(port))
    raise ValueError(f"must be host:port, an IPv6 host in brackets, not {text!r}")


def listed(convert: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    return lambda text: tuple(convert(part.strip()) for part in text.split(","))


def url(pattern: str, wanted: str) -> Callable[[str], str]:
    """Return a function that checks a URL by a pattern; it raises ValueError.

    The error does not repeat the URL, which may contain a password.
    """

    def convert(text: str) -> str:
        with suppress(ValueError):  # of a port, or of a host in brackets
            servers = urlsplit(text).netloc.rpartition("@")[2].split(",")
            split = [urlsplit(f"//{server}") for server in servers if server]
            are_valid = all(server.hostname and server.port != 0 for server in split)
            if are_valid and re.fullmatch(pattern, text):
                return text
        raise ValueError(f"must be {wanted}")

    return convert


base_url = url(rf"{_SITE}(/[!-~]*)?/v1", "an address like https://api.example.org/v1")
origin = url(
    rf"\*|{_ORIGIN}", "* or origins like https://app.example.org, separated by commas"
)
contact = url(
    rf"{_SITE}(/[!-~]*)?|{_EMAIL}",
    "a URL like https://example.org/plans or an email address",
)
redis_url = url(
    rf"{_ESCAPED}(rediss?://{_USER}{_SERVER}(/[0-9]{{0,9}})?"  # Redis takes 31 bits
    rf"|rediss://{_USER}{_SERVER}(/[0-9]{{0,9}})?\?ssl_cert_reqs=(none|optional|required)"
    rf"|redis\+cluster://{_USER}{_SERVERS}/?"
    rf"|redis\+sentinel://{_USER}{_SERVERS}/[A-Za-z0-9._-]+)",
    "redis://HOST:PORT/NUMBER, rediss://HOST:PORT/NUMBER (only ?ssl_cert_reqs=none may "
    "follow), redis+cluster://HOST:PORT,HOST:PORT or redis+sentinel://HOST:PORT,HOST:"
    "PORT/NAME, with a NUMBER of at most 9 digits, and %XX for special characters in "
    "user and password",
)
_database_url = url(
    r"sqlite:///(?!.*(:memory:|%00|\n))[^?]*[^/?]|"
    rf"{_ESCAPED}postgresql://([^/?#@]*@)?({_SERVER}(,{_SERVER})*)?/[^/?#]+"
    r"(\?([^&=#]+=[^&#]*(&|$))*)?",
    "sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME, with %XX for special "
    "characters in user and password, and perhaps ?sslmode=MODE",
)


def database_url(text: str) -> str:
    return _database_url(re.sub("^postgres://", "postgresql://", text))


def extensions(text: str) -> tuple[str, ...]:
    names = [] if text.strip() == "none" else [name.strip() for name in text.split(",")]
    if unknown := set(names).difference(EXTENSIONS):
        known = ", ".join(EXTENSIONS)
        raise ValueError(f"must be none, or names of {known}, not {min(unknown)!r}")
    return tuple(name for name in EXTENSIONS if name in names)


def usable_processors() -> int:
    """Return how many processors this process and its control group may use."""
    if not hasattr(os, "sched_getaffinity"):  # Linux only
        return os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):  # there is no such file, or no limit (`max`)
        group = OWN_GROUP.read_text().rpartition("0::/")[2].strip()
        quota, period = map(
            int, (CONTROL_GROUPS / group / "cpu.max").read_text().split()
        )
        return min(usable, math.ceil(quota / period))
    return usable


def setting(variable: str, convert: Callable[[str], Any], default: Any = None) -> Any:
    """Make the field of a variable; `convert` raises ValueError."""
    return field(default=default, metadata={"variable": variable, "convert": convert})


@dataclass(frozen=True, repr=False)  # three contain secrets
class Settings:
    database_url: str = setting("DATABASE_URL", database_url, "sqlite:///petstore.db")
    """`sqlite:///FILE`, or `postgresql://USER:PASSWORD@HOST:PORT/NAME`
    (PostgreSQL 14 or newer)"""
    redis_url: str | None = setting("REDIS_URL", redis_url)
    """the [Redis](#redis) 6 or newer that counts requests; without it the database
    does"""
    port: int = setting("PORT", number(1, 65_535), 8000)
    """the port to listen on, with IPv6 and IPv4"""
    workers: int = setting(
        "WEB_CONCURRENCY", number(1, 1000), min(usable_processors(), MAX_WORKERS)
    )
    """the number of worker processes"""
    trusted_proxies: int = setting("PETSTORE_TRUSTED_PROXIES", number(0, 100), 0)
    """how many reverse proxies in front are trusted for X-Forwarded-For and
    X-Forwarded-Proto"""
    ban_after: int = setting("PETSTORE_BAN_AFTER", number(1, 1_000_000), 10)
    """how many refusals within a minute [ban a key](api.md#limits)"""
    ban_seconds: int = setting("PETSTORE_BAN_SECONDS", number(1, 31_536_000), 300)
    """how long a ban lasts"""
    cors_origins: tuple[str, ...] = setting(
        "PETSTORE_CORS_ORIGINS", listed(origin), ("*",)
    )
    """the origins whose pages may call the API, separated by commas"""
    extensions: tuple[str, ...] = setting(
        "PETSTORE_EXTENSIONS", extensions, tuple(EXTENSIONS)
    )
    """which [extensions](architecture.md#extensions) are served, separated by commas;
    `none`: only the API"""

    # Of the extension dashboard.
    secret_key: str | None = setting("SECRET_KEY", secret)
    """signs the sessions of the dashboard; at least 16 characters"""
    contact: str | None = setting("PETSTORE_CONTACT", contact)
    """whom pages name for another plan, and for a suspended project: a URL, or an
    email address"""

    # Of the extension monitoring.
    metrics_directory: str | None = setting("PROMETHEUS_MULTIPROC_DIR", str)
    """a directory in which workers keep their metrics; other files there stay"""

    # Of the extension hosting.
    base_domain: str | None = setting("PETSTORE_BASE_DOMAIN", domain)
    """enables [host routing](domains.md): each project is served at `SLUG.BASE_DOMAIN`
    and at its own domains"""
    dns_servers: tuple[Address, ...] = setting(
        "PETSTORE_DNS_SERVERS", listed(address), ()
    )
    """`HOST:PORT,…`, the servers that are asked when a domain is verified"""
    tls_address: Address | None = setting("PETSTORE_TLS_ADDRESS", address)  # noqa: RUF009 (it makes a field)
    """where the TLS proxy listens, for the first handshake of a new domain"""
    new_domains_per_day: int = setting(
        "PETSTORE_NEW_DOMAINS_PER_DAY", number(1, 1_000_000), 20
    )
    """how many domains a project may verify for the first time in a UTC day"""

    # Of the extension openapi.
    production_url: str | None = setting("PETSTORE_PRODUCTION_URL", base_url)
    """the base address in the interface description, including `/v1`"""
    staging_url: str | None = setting("PETSTORE_STAGING_URL", base_url)
    """the same for a staging environment"""


def variables() -> dict[str, str]:
    """Return the name of the field of each variable."""
    return {each.metadata["variable"]: each.name for each in fields(Settings)}


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read all settings; an empty one has its default; raises `SettingError`."""
    values: dict[str, Any] = {}
    for each in fields(Settings):
        variable, convert = each.metadata["variable"], each.metadata["convert"]
        try:
            if text := environ.get(variable):
                values[each.name] = convert(text)
        except ValueError as error:
            raise SettingError(f"{variable}: {error}") from None
    settings = Settings(**values)

    # Of the extension hosting.
    if settings.base_domain and "hosting" not in settings.extensions:
        raise SettingError("PETSTORE_BASE_DOMAIN: needs the extension hosting")
    if settings.base_domain and not settings.tls_address:
        tls_address = Address(settings.base_domain, HTTPS_PORT)
        settings = replace(settings, tls_address=tls_address)

    return settings


def unknown_settings(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return a sentence for each variable that looks like a setting but is none."""
    return [
        f"{name} is not a setting of this service"
        for name, text in sorted(environ.items())
        if name.startswith("PETSTORE_") and name not in variables()
        if not re.match(_KUBERNETES, f"{name}={text}")
    ]
