"""/dashboard/animals.csv, orders.csv and animals/import: CSV files."""

import codecs
from collections.abc import Iterator
from contextlib import nullcontext
from hashlib import sha256
from itertools import chain, islice

from flask import Flask, Response, current_app, render_template, request, session
from flask.typing import ResponseReturnValue

from petstore import timeouts
from petstore.errors import MAX_BODY_BYTES
from petstore.extensions.dashboard import (
    ANIMALS,
    EMPTY,
    MAY_BE_SHOWN_AGAIN,
    TOKEN,
    Form,
    NoSuchUpload,
    Outcome,
    PageBlueprint,
    Upload,
    add_block,
    add_page,
    count_expensive_page,
    count_form,
    current_project,
    go_to,
    idempotent,
    similar_categories,
    status,
    takes_file,
    takes_long,
)
from petstore.extensions.sheets import exports
from petstore.extensions.sheets.choices import ENCODINGS, NO_CHOICES, Choices
from petstore.extensions.sheets.imports import Preview, foresee, store
from petstore.extensions.sheets.lines import NotReadable
from petstore.models import RuleError
from petstore.models.grants import WRITE
from petstore.models.pets import STATUSES
from petstore.models.projects import ProjectFull
from petstore.settings import Settings
from petstore.web.turns import Turns, turns_of

MAX_FIELDS = 64  # of the page about a file
STATUS = "status."  # before a status of another system, in the names of fields
SHOWN_ROWS = 20
NO_PROJECT = 0  # instead of an id, for a turn of the whole worker
SEPARATORS = {",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Bar |"}
# The columns, in the words of the page.
COLUMNS = {"name": "Name", "category": "Category", "status": "Status"}
COLUMNS |= {"categoryId": "Number of the category", "id": "Numbers of animals here"}

bp = PageBlueprint("sheets", __name__, "", required_role=WRITE)


def init_app(app: Flask, settings: Settings) -> None:
    add_page(app, bp)
    add_block(app, "add animals", "import_file.html")
    add_block(app, "first animals", "first_animals.html")
    add_block(app, "animals", "download_animals.html")
    add_block(app, "orders", "download_orders.html")
    app.jinja_env.get_template("import_question.html")  # compiling it takes long


@bp.get("/animals.csv")
@takes_long
def animals() -> Response:
    return _download("animals", exports.animals(current_project().id, _separator()))


@bp.get("/orders.csv")
@takes_long
def orders() -> Response:
    return _download("orders", exports.orders(current_project().id, _separator()))


@bp.get("/animals/import")
def import_page(form: Form = EMPTY) -> str:
    return render_template("import.html", form=form)


@bp.post("/animals/import")
@takes_file
def upload() -> ResponseReturnValue:
    file = request.files.get("file")
    content = file.read() if file else b""
    if not content:
        raise NotReadable("Choose a file that is not empty")
    limit = timeouts.LIMITS.import_bytes
    if len(content) > limit:
        raise NotReadable(f"The file has more than {limit // 1024**2} MiB")

    def keep(digest: str) -> Outcome:  # the same form may send another file later
        name = Upload.keep(session[TOKEN], content)
        return Outcome("sheets.question", "", {"file": name})

    keep_once = idempotent(keep, count=count_expensive_page)
    return keep_once(digest=sha256(content).hexdigest())


@bp.get("/animals/import/<file>")
@takes_long
def question(file: str) -> ResponseReturnValue:
    upload = Upload.find(session[TOKEN], file)
    if upload is None:
        return go_to("sheets.import_page", str(NoSuchUpload()), "bad")
    count_expensive_page()
    return _show(file, _foresee(upload, NO_CHOICES))


@bp.post("/animals/import/<file>")
@takes_long
def answer(file: str) -> ResponseReturnValue:
    count_form()
    upload = Upload.find(session[TOKEN], file)
    # It is read before the transaction begins: on SQLite, other writers wait for that.
    preview = _foresee(upload, _choices()) if upload else None
    is_again = "again" in request.form
    is_other = preview and preview.digest != request.form.get("shown")
    if preview and (is_other or is_again) and Upload.find(session[TOKEN], file):
        count_expensive_page()
        return _show(file, preview, is_other=not is_again)

    @idempotent
    def import_upload(file: str) -> Outcome:
        if preview is None:
            raise NoSuchUpload
        preview.require_no_fault()
        Upload.use(session[TOKEN], file)
        done = store(current_project(), preview, is_shown=True)
        added, corrected = len(done.added), len(done.corrected)
        message = f"{added:,} animal{'s are' if added != 1 else ' is'} added"
        message += f", {corrected:,} corrected" if corrected else ""
        # With facts, it is also among the changes of animals, where people look for it.
        return Outcome(ANIMALS, f"{message}.", facts={} if added or corrected else None)

    return import_upload(file=file)


@bp.errorhandler(NotReadable)
@bp.errorhandler(ProjectFull)
def refuse(error: RuleError) -> ResponseReturnValue:
    return import_page(Form(errors={"file": str(error)})), 400


@bp.url_value_preprocessor
def _allow_choices(endpoint: str | None, _: object) -> None:
    if endpoint == "sheets.answer":
        request.max_form_parts = MAX_FIELDS


def _choices() -> Choices:
    """Return what a person has chosen; all that the form leaves out is guessed."""
    form = request.form
    statuses = {
        name.removeprefix(STATUS): meant
        for name, meant in form.items()
        if name.startswith(STATUS) and meant in STATUSES
    }
    columns = {ours: form[ours] for ours in COLUMNS if ours in form}
    texts = map(form.get, ("separator", "encoding"))
    return Choices(columns, statuses, form.get("without_name", ""), *texts)


def _foresee(upload: Upload, choices: Choices) -> Preview:
    """Read a file; to save memory, a worker reads one large file at a time."""
    is_large = len(upload.content) > MAX_BODY_BYTES
    with turns_of(current_app).exclusively(NO_PROJECT) if is_large else nullcontext():
        return foresee(current_project(), upload.content, choices)


def _show(
    file: str, preview: Preview, *, is_other: bool = False
) -> ResponseReturnValue:
    """Show a file as it would be stored, from the line that somebody wants to see."""
    line, heads = request.form.get("line", 1, type=int), preview.sheet.table.heads
    new = preview.new_categories[:SHOWN_ROWS]
    page = render_template(
        "import_question.html",
        file=file,
        preview=preview,
        line=line,
        is_other=is_other,
        faults=[fault for fault in preview.faults if fault.line >= line],
        first=preview.first(SHOWN_ROWS, line),
        form=EMPTY,
        similar=similar_categories(current_project().id, new),
        columns=COLUMNS,
        heads=[(head, head) for head in heads],
        named_by=[(head, f"Are named by {head}") for head in heads],
        separators={(x := preview.sheet.choices.separator): x} | SEPARATORS,
        encodings=[(name, name) for name in ENCODINGS],
        statuses={name: status(name) for name in STATUSES},
    )
    return page, 200, MAY_BE_SHOWN_AGAIN


def _separator() -> str:
    return ";" if request.args.get("separator") == ";" else ","


def _download(name: str, parts: Iterator[bytes]) -> Response:
    count_expensive_page()
    # The first rows are read before the response begins, so that an outage is a 503.
    beginning = codecs.BOM_UTF8 + b"".join(islice(parts, 2))
    parts = _computed_alone(turns_of(current_app), current_project().id, parts)
    disposition = f'attachment; filename="{name}-{current_project().slug}.csv"'
    headers = {"Content-Disposition": disposition}
    return Response(chain([beginning], parts), headers=headers, mimetype="text/csv")


def _computed_alone(
    turns: Turns, project_id: int, parts: Iterator[bytes]
) -> Iterator[bytes]:
    """Yield the parts; a project computes one part at a time."""
    part: bytes | None = b""
    while part is not None:
        yield part
        with turns.exclusively(project_id):
            part = next(parts, None)
