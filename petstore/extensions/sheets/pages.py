"""/dashboard/animals.csv, orders.csv and animals/import: CSV files."""

import codecs
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from hashlib import sha256
from itertools import chain, islice
from typing import Any
from weakref import proxy

import flask
import orjson
from flask import Flask, Response, current_app, render_template, request, session
from flask.typing import ResponseReturnValue

from petstore.errors import MAX_BODY_BYTES
from petstore.extensions import dashboard
from petstore.extensions.dashboard import Form, Outcome, current_project, takes_long
from petstore.extensions.sheets import choices as sheets
from petstore.extensions.sheets import exports, lines
from petstore.extensions.sheets.choices import Choices, read_choices
from petstore.extensions.sheets.imports import SHOWN, Preview, foresee
from petstore.extensions.sheets.lines import NotReadable, TooLarge
from petstore.extensions.sheets.models import Import
from petstore.extensions.sheets.storing import store
from petstore.extensions.sheets.uploads import receive_file
from petstore.models import RuleError
from petstore.models.grants import WRITE
from petstore.models.projects import ProjectFull
from petstore.settings import Settings
from petstore.web.turns import Turns, turns_of

PAGE_BYTES = 256 * 1024  # another look costs a page for each of these
TAKE_BACK = "sheets.take_back"
NO_PROJECT = 0  # instead of an id, for a turn of the whole worker
GONE = dashboard.NoSuchUpload.text
OTHER = "Nothing is imported yet: the choices or the animals have changed. Look again."

bp = dashboard.PageBlueprint(
    "sheets", __name__, "", required_role=WRITE, before_form=receive_file
)


def init_app(app: Flask, settings: Settings) -> None:
    dashboard.add_page(app, bp)
    dashboard.add_block(app, "add animals", "import_file.html")
    dashboard.add_block(app, "first animals", "first_animals.html")
    dashboard.add_block(app, "animals", "download_animals.html")
    dashboard.add_block(app, "orders", "download_orders.html")
    app.jinja_env.get_template("import_question.html")  # compiling it takes long


@bp.get("/animals.csv", defaults={"name": "animals"})
@bp.get("/orders.csv", defaults={"name": "orders"})
@takes_long
def download(name: str) -> Response:
    dashboard.count_expensive_page()
    project = current_project()
    separator = ";" if request.args.get("separator") == ";" else ","
    parts = getattr(exports, name)(project.id, separator)
    # The first rows are read before the response begins, so that an outage is a 503.
    beginning = codecs.BOM_UTF8 + b"".join(islice(parts, 2))
    parts = _alone(turns_of(current_app), project.id, parts)
    disposition = f'attachment; filename="{name}-{project.slug}.csv"'
    headers = {"Content-Disposition": disposition}
    return Response(chain([beginning], parts), headers=headers, mimetype="text/csv")


@bp.get("/animals/import")
def import_page(form: Form = dashboard.EMPTY) -> str:
    project_id = current_project().id
    imports = Import.recent(project_id)
    labels = dashboard.key_labels(project_id, [each.actor for each in imports])
    return render_template("import.html", form=form, imports=imports, labels=labels)


@bp.post("/animals/import")
def upload() -> ResponseReturnValue:
    file = request.files.get("file")
    content = file.read() if file else b""
    if not content:
        raise NotReadable("Choose a file that is not empty")
    lines.require_small(content)

    def keep(digest: str) -> Outcome:  # the same form may send another file later
        name = dashboard.Upload.keep(session[dashboard.TOKEN], content)
        return Outcome("sheets.question", "", {"file": name})

    keep_once = dashboard.idempotent(keep, count=dashboard.count_expensive_page)
    return keep_once(digest=sha256(content).hexdigest())


@bp.get("/animals/import/<file>")
@takes_long
def question(file: str) -> ResponseReturnValue:
    upload = dashboard.Upload.find(session[dashboard.TOKEN], file)
    if upload is None:
        return dashboard.go_to("sheets.import_page", GONE, "bad")
    most = dashboard.EXPENSIVE_PAGES
    pages = -(-len(upload.content) // PAGE_BYTES) if upload.chosen else most
    dashboard.count_expensive_page(min(pages, most))
    # Release 1.4.0, which may run beside this one, writes its choices in another way.
    chosen = orjson.loads(upload.chosen or "{}").items()
    choices = read_choices([(x, y) for x, y in chosen if isinstance(y, str)])
    try:
        preview = _foresee(upload, choices)
    except NotReadable as error:
        if not choices:
            raise
        flask.flash(str(error), "bad")
        preview = _foresee(upload, sheets.NONE)
    return _show(file, preview)


@bp.post("/animals/import/<file>")
@takes_long
def answer(file: str) -> ResponseReturnValue:
    upload = dashboard.Upload.find(session[dashboard.TOKEN], file)
    choices = read_choices(request.form.items(multi=True))
    if upload and "again" in request.form:
        return _look_again(file, choices)
    dashboard.count_form()
    # It is read before the transaction begins: on SQLite, other writers wait for that.
    preview = _foresee(upload, choices) if upload else None
    is_other = preview and preview.digest != request.form.get("shown")
    if is_other and dashboard.Upload.find(session[dashboard.TOKEN], file):
        return _look_again(file, choices, OTHER, "warning")

    @dashboard.idempotent
    def import_upload(file: str) -> Outcome:
        if preview is None:
            raise dashboard.NoSuchUpload
        preview.require_no_fault()
        dashboard.Upload.use(session[dashboard.TOKEN], file)
        done = store(current_project(), preview, is_shown=True)
        added, corrected = len(done.added), len(done.corrected)
        message = f"Added {added:,} {'animal' if added == 1 else 'animals'}"
        message += f", corrected {corrected:,}" if corrected else ""
        message = " ".join([f"{message}.", *done.sheet.notes])
        # With facts, it is also among the changes of animals, where people look for it.
        facts: dict[str, Any] | None = {} if added or corrected else None
        if done.import_id is None:
            return Outcome(dashboard.ANIMALS, message, facts=facts)
        links = [("Your imports", flask.url_for("sheets.import_page"))]
        undo = ("Undo: remove them", flask.url_for(TAKE_BACK, import_id=done.import_id))
        return Outcome(dashboard.ANIMALS, message, facts=facts, links=links, undo=undo)

    return import_upload(file=file)


def _look_again(file: str, choices: Choices, *text: str) -> ResponseReturnValue:
    """Show the page with other choices, which a reload keeps."""
    chosen = orjson.dumps(choices).decode()
    dashboard.Upload.choose(session[dashboard.TOKEN], file, chosen)
    return dashboard.go_to("sheets.question", *text, file=file)


@bp.post("/animals/imports/<id:import_id>/take-back")
@takes_long
def take_back(import_id: int) -> ResponseReturnValue:
    """Remove what an import has added, in parts, as far as nobody has changed it."""
    dashboard.count_form()
    project_id = current_project().id
    found = Import.get_recent(project_id, import_id)
    found.take_back()

    @dashboard.idempotent
    def finish(import_id: int) -> Outcome:
        done = Import.get_recent(project_id, import_id)
        is_new = done.removed > found.removed
        message = f"Removed {done.removed:,} of {done.added:,} imported animals."
        if left := done.count_left():
            message += f" Changed or reserved since, and therefore left: {left:,}."
        return Outcome(dashboard.ANIMALS, message, facts={} if is_new else None)

    return finish(import_id=import_id)


@bp.errorhandler(NotReadable)
@bp.errorhandler(ProjectFull)
def refuse(error: RuleError) -> ResponseReturnValue:
    status = 413 if isinstance(error, TooLarge) else 400
    return import_page(Form(errors={"file": str(error)})), status


def _foresee(upload: dashboard.Upload, choices: Choices) -> Preview:
    """Read a file; to save memory, a worker reads one large file at a time."""
    is_large = len(upload.content) > MAX_BODY_BYTES
    turns = turns_of(current_app)
    with dashboard.exclusively(turns, NO_PROJECT) if is_large else nullcontext():
        return foresee(current_project(), upload.content, choices)


def _show(file: str, preview: Preview) -> ResponseReturnValue:
    """Show a file as it would be stored, with the choices how it is read."""
    sheet, new = preview.sheet, preview.new_categories[:SHOWN]
    page = render_template(
        "import_question.html",
        file=file,
        # Macros refer to what a template has, which only the cyclic collector deletes.
        preview=proxy(preview),
        sheet=proxy(sheet),
        table=proxy(sheet.table),
        by_status=Counter(pet.members["status"] for pet in preview.added),
        form=dashboard.EMPTY,
        similar=dashboard.similar_categories(current_project().id, new),
        shown=SHOWN,
        sheets=sheets,
    )
    return page, 200, dashboard.MAY_BE_SHOWN_AGAIN


def _alone(turns: Turns, project_id: int, parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the parts; a project computes one part at a time."""
    part: bytes | None = b""
    while part is not None:
        yield part
        with dashboard.exclusively(turns, project_id):
            part = next(parts, None)
