"""URLs in settings, checked.

The errors do not repeat the URL, which may contain a password.
"""

import re
from urllib.parse import urlsplit

_HOST = r"[A-Za-z0-9.:\[\]-]+"
_BASE_URL = rf"https?://{_HOST}(/[!-~]*)?/v1"
_ORIGIN = r"https?://[a-z0-9.:\[\]-]+"
_CONTACT_URL = rf"https?://{_HOST}(/[!-~]*)?"
_EMAIL = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*"

# No white space, and %XX wherever there is a percent sign.
_ESCAPED = r"(?!.*(%(?![0-9A-Fa-f]{2})|\s))"
_SQLITE = r"sqlite:///(?!.*(:memory:|%00|\n))[^?]*[^/?]"
_POSTGRESQL = (
    rf"{_ESCAPED}postgresql://([^/?#@]*@)?([^/?#@,]+(,[^/?#@,]+)*)?"
    r"/[^/?#]+(\?([^&=#]+=[^&#]*(&|$))*)?"
)
# What other drivers take, and hosts of databases therefore write. The service has its
# own time limits, and asyncpg never binds the password to the TLS channel.
_IGNORED_OPTIONS = (
    r"(?<=[?&])(connect_timeout=[0-9]+|channel_binding=(prefer|disable))(&|$)"
)
# Which of several servers will do, as PostgreSQL's own library names them.
_SESSIONS = ("any", "primary", "standby", "read-write", "read-only", "prefer-standby")

_USER = r"([^/?#\s]*@)?"
_SERVER = r"[^/?#\s,@]+"
_SERVERS = rf"{_SERVER}:[0-9]+(,{_SERVER}:[0-9]+)*"
# The name of the master follows the sentinels.
_REDIS = (
    rf"{_ESCAPED}(rediss?://{_USER}{_SERVER}(/[0-9]*)?"
    rf"|rediss://{_USER}{_SERVER}(/[0-9]*)?\?ssl_cert_reqs=(none|optional|required)"
    rf"|redis\+cluster://{_USER}{_SERVERS}/?"
    rf"|redis\+sentinel://{_USER}{_SERVERS}/[A-Za-z0-9._-]+)"
)


def database_url(text: str) -> str:
    """Return the URL of an SQLite file or a PostgreSQL database; raises ValueError."""
    if re.fullmatch(_SQLITE, text):
        return text
    url = re.sub("^postgres://", "postgresql://", text)
    if re.search("[?&]channel_binding=require(&|$)", url):
        raise ValueError(
            "channel_binding=require is not supported; remove it, and use "
            "sslmode=verify-full to know that the server is the right one"
        )
    sessions = re.findall("[?&]target_session_attrs=([^&]*)", url)
    if any(session not in _SESSIONS for session in sessions):
        raise ValueError(f"target_session_attrs must be one of {', '.join(_SESSIONS)}")
    if _is_url(url, _POSTGRESQL):
        return re.sub(_IGNORED_OPTIONS, "", url).rstrip("?&")
    raise ValueError(
        "must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME, with "
        "%XX for special characters in user and password, and perhaps ?sslmode=MODE"
    )


def redis_url(text: str) -> str:
    """Return the URL of a Redis, a cluster or sentinels; raises ValueError."""
    if not _is_url(text, _REDIS):
        raise ValueError(
            "must be redis://HOST:PORT/NUMBER, rediss://HOST:PORT/NUMBER (only "
            "?ssl_cert_reqs=none may follow), redis+cluster://HOST:PORT,HOST:PORT or "
            "redis+sentinel://HOST:PORT,HOST:PORT/NAME, with %XX for special "
            "characters in user and password"
        )
    if re.match("rediss?://[^/]+/[0-9]{10}", text):  # Redis takes 31 bits
        raise ValueError("the number of the database must have at most 9 digits")
    return text


def base_url(text: str) -> str:
    """Return the base URL of the interface; raises ValueError."""
    if _is_url(text, _BASE_URL):
        return text
    raise ValueError("must be an address like https://api.example.org/v1")


def origins(text: str) -> tuple[str, ...]:
    """Return the origins of pages, `*` for any; raises ValueError."""
    found = tuple(text.split(","))
    if all(origin == "*" or _is_url(origin, _ORIGIN) for origin in found):
        return found
    raise ValueError(
        "must be * or origins like https://app.example.org, separated by commas"
    )


def contact(text: str) -> str:
    """Return the URL or the email address of a contact; raises ValueError."""
    if _is_url(text, _CONTACT_URL) or re.fullmatch(_EMAIL, text):
        return text
    raise ValueError(
        "must be a URL like https://example.org/plans or an email address, "
        f"not {text!r}"
    )


def _is_url(text: str, pattern: str) -> bool:
    """Return whether a URL matches the pattern, and its servers have valid ports."""
    try:
        servers = urlsplit(text).netloc.rpartition("@")[2].split(",")
        split = [urlsplit(f"//{server}") for server in servers if server]
        are_valid = all(server.hostname and server.port != 0 for server in split)
    except ValueError:
        return False
    return are_valid and bool(re.fullmatch(pattern, text))
