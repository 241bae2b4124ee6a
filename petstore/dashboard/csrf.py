"""Tokens without which no form changes anything (Flask-WTF's, bound to the session)."""

from flask import Flask, request, session
from flask_wtf.csrf import generate_csrf, validate_csrf
from wtforms import ValidationError

from petstore.errors import InvalidRequest

FIELD = "csrf_token"


def init_app(app: Flask) -> None:
    """Let templates put a token into each form; it lives as long as the session."""
    app.config["WTF_CSRF_TIME_LIMIT"] = None
    app.jinja_env.globals[FIELD] = generate_csrf


def check() -> None:
    """Refuse a form that did not come from a page of this session."""
    if request.method != "POST":
        return
    try:
        validate_csrf(request.form.get(FIELD))
    except ValidationError:
        raise InvalidRequest(
            "This form was sent before, or its page is out of date. "
            "Open the page anew and try again."
        ) from None


def renew() -> None:
    """Void the forms of this session, so that sending one again does nothing twice."""
    session.pop(FIELD, None)
