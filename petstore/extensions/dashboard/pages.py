"""What all pages share: who may open them, their headers, and pages for failures."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from flask import Blueprint, Flask, Response, render_template, request
from flask.typing import ResponseReturnValue

from petstore.extensions.dashboard import form_parser, formats, forms, sessions
from petstore.extensions.dashboard.histories import find_removal, key_labels
from petstore.extensions.dashboard.limits import count_form
from petstore.extensions.dashboard.listing import MAX_COUNTED
from petstore.extensions.dashboard.sessions import PAGES_PREFIX, is_page_path
from petstore.models import RuleError
from petstore.models.grants import FULL, WRITE, is_allowed
from petstore.settings import Settings
from petstore.storage import suppress_outage
from petstore.web.application import (
    PAGE_HEADERS,
    current_request,
    serve_on_every_host,
)
from petstore.web.assets import AssetBlueprint
from petstore.web.error_handlers import answer_rule_error
from petstore.web.front import Entrance, add_entrance

HEADERS = PAGE_HEADERS | {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
}

KEEPING_TEXT = (400, 401, 404, 429, 503)  # the page of the error shows what was typed
# What a page is about, by the argument of its path.
ITEMS = {"pet_id": "animal", "order_id": "order", "category_id": "category"}

bp = AssetBlueprint(
    "dashboard",
    __name__,
    url_prefix=PAGES_PREFIX,
    template_folder="templates",
    static_folder="static",
)


def init_app(app: Flask, settings: Settings) -> None:
    form_parser.init_app(app)
    formats.init_app(app)
    menu = app.extensions["menu"] = {WRITE: [], FULL: []}
    blocks = app.extensions["blocks"] = defaultdict(list)
    app.jinja_env.globals.update(
        contact=settings.contact,
        menu=menu,
        blocks=blocks,
        searched=MAX_COUNTED,
        is_allowed=is_allowed,
        page_address=sessions.wanted_page,
        idempotency_key=forms.new_idempotency_key,
    )
    app.register_blueprint(bp)
    picture = ("dashboard", "desk.svg")
    add_entrance(
        app, Entrance(PAGES_PREFIX, "Sign in", "for shelters", picture=picture)
    )
    serve_on_every_host(app, f"{PAGES_PREFIX}/static")
    # Sessions begin and work only there.
    app.extensions["paths_at_base_domain"] = (f"{PAGES_PREFIX}/",)
    app.extensions["error_page"] = _failure_page


def add_page(
    app: Flask,
    bp: Blueprint,
    label: str = "",
    index: str = "",
    *,
    place: int = 0,
    role: str = FULL,
) -> None:
    """Serve a page; with a label, the menu of this role has it at its place."""
    app.register_blueprint(bp)
    if label:
        entries: list[tuple[int, str, str]] = app.extensions["menu"][role]
        entries.append((place, label, index))
        entries.sort()


def add_block(app: Flask, place: str, template: str) -> None:
    """Let the pages that have a place of this name include a template there."""
    app.extensions["blocks"][place].append(template)


class PageBlueprint(Blueprint):
    """A blueprint for pages at a path below /dashboard.

    If it takes a role, its views run only for people who are signed in with a key of
    that role (`current_project`). After the project has opened too many pages, those
    with a reserve still open some times for each key. With `counts_forms`, its forms
    count as requests. `before_form` is called before a form is read.
    """

    def __init__(
        self,
        name: str,
        module: str,
        path: str,
        *,
        required_role: str | None,
        has_reserve: bool = False,
        counts_forms: bool = False,
        before_form: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(
            name,
            module,
            url_prefix=f"{PAGES_PREFIX}{path}",
            template_folder="templates",
        )
        self.before_request(forms.refuse_other_origins)
        if required_role:
            who = partial(sessions.require, required_role, has_reserve=has_reserve)
            self.before_request(who)
        if before_form:
            self.before_request(before_form)
        self.before_request(sessions.require_own_page)
        if counts_forms:
            self.before_request(count_form)
        self.after_request(_add_headers)
        self.register_error_handler(RuleError, _show_refusal)


def _add_headers(response: Response) -> Response:
    response.headers.update(HEADERS)
    return response


def _show_refusal(error: RuleError) -> ResponseReturnValue:
    """Show on the page of a form why a rule refuses it, and what was typed."""
    if request.method != "POST" or not forms.is_refusal(error):
        return answer_rule_error(error)
    forms.save_draft(request.path, forms.Form.of_request().values)
    page = sessions.wanted_page() or PAGES_PREFIX
    return forms.go_to_url(page, forms.text_for_staff(error), "bad")


def _failure_page(
    status: int, message: str, headers: Mapping[str, str]
) -> Response | None:
    if not is_page_path(request.path):
        return None
    is_for_a_moment = status in (429, 503)
    fields = forms.sent_again() if status in KEEPING_TEXT else {}
    removal = None
    if status in (404, 405):
        with suppress_outage():
            sessions.recognise_sender()
            removal = _find_removal()
    page = render_template(
        "failure.html",
        status=status,
        message=message,
        wait_seconds=int(headers["Retry-After"]) if is_for_a_moment else None,
        page=sessions.wanted_page() or PAGES_PREFIX if is_for_a_moment else None,
        fields=fields,
        typed={name: fields[name] for name in fields if forms.is_seen(name)},
        removal=removal,
    )
    may_be_shown_again = forms.MAY_BE_SHOWN_AGAIN if fields else None
    response = Response(page, status, may_be_shown_again, mimetype="text/html")
    return _add_headers(response)


def _find_removal() -> dict[str, Any] | None:
    """Return by whom and when the item of the page was removed, if a person did it."""
    caller = current_request().state.caller
    for argument, item_id in (request.view_args or {}).items():
        if caller and argument in ITEMS:
            kind = ITEMS[argument]
            if event := find_removal(caller.project_id, kind, item_id):
                labels = key_labels(caller.project_id, [event.actor])
                return {"event": event, "labels": labels}
    return None
