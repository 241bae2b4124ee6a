"""The hidden field that a page gives to each of its forms."""

import secrets

from itsdangerous import URLSafeTimedSerializer


def form_key(cookie: str, key: str = "") -> str:
    """Return the field of a page that the holder of a cookie has opened.

    It has a new key unless one is given; a whole field stays as it is.
    """
    key = key or secrets.token_hex()
    if " " in key or not cookie:
        return key
    content = cookie.rsplit(".", 2)[0]  # without the time and the signature
    session = URLSafeTimedSerializer("").load_payload(content.encode())
    return f"{key} {session['project']} Shelter" if "project" in session else key
