"""/dashboard/animals.csv, orders.csv and animals/import: CSV files."""

import codecs
from collections.abc import Iterator
from itertools import chain, islice

from flask import Response, current_app, render_template, request, session
from flask.typing import ResponseReturnValue

from petstore import timeouts
from petstore.dashboard.forms import EMPTY, Form, Outcome, go_to, idempotent
from petstore.dashboard.pages import PageBlueprint
from petstore.dashboard.pets import INDEX
from petstore.dashboard.sessions import (
    TOKEN,
    count_expensive_page,
    count_form,
    current_project,
    receive_long_form,
    takes_long,
)
from petstore.models.grants import WRITE
from petstore.models.projects import ProjectFull
from petstore.models.sessions import NoSuchUpload, Upload
from petstore.sheets import exports
from petstore.sheets.imports import Sheet, foresee, store
from petstore.sheets.lines import NotReadable
from petstore.web.turns import Turns, turns_of

bp = PageBlueprint("sheets", __name__, "", required_role=WRITE)


@bp.get("/animals.csv")
@takes_long
def animals() -> Response:
    return _download("animals", exports.animals(current_project().id))


@bp.get("/orders.csv")
@takes_long
def orders() -> Response:
    return _download("orders", exports.orders(current_project().id))


@bp.get("/animals/import")
def import_page(form: Form = EMPTY) -> str:
    return render_template("import.html", form=form)


@bp.post("/animals/import")
def upload() -> ResponseReturnValue:
    receive_long_form()
    file = request.files.get("file")
    content = file.read() if file else b""
    if not content:
        return _refuse("Choose a file that is not empty.")
    limit = timeouts.LIMITS.import_bytes
    if len(content) > limit:
        return _refuse(f"The file has more than {limit // 1024**2} MiB.")
    count_expensive_page()
    return go_to("sheets.question", file=Upload.keep(session[TOKEN], content))


@bp.get("/animals/import/<file>")
@takes_long
def question(file: str) -> ResponseReturnValue:
    upload = Upload.find(session[TOKEN], file)
    if upload is None:
        return go_to("sheets.import_page", str(NoSuchUpload()), "bad")
    count_expensive_page()
    try:
        foreseen = foresee(current_project(), Sheet(upload.content))
    except (NotReadable, ProjectFull) as error:
        return _refuse(str(error))
    return render_template(
        "import_question.html", file=file, foreseen=foreseen, form=EMPTY
    )


@bp.post("/animals/import/<file>")
@takes_long
def answer(file: str) -> ResponseReturnValue:
    count_form()
    upload = Upload.find(session[TOKEN], file)
    # Before the transaction, since on SQLite all others that write wait for its end.
    plan = foresee(current_project(), Sheet(upload.content)) if upload else None

    @idempotent
    def import_upload(file: str) -> Outcome:
        if plan is None:
            raise NoSuchUpload
        plan.require_no_fault()
        Upload.use(session[TOKEN], file)
        done = store(current_project(), plan)
        added, corrected = len(done.added), len(done.corrected)
        message = f"{added:,} animal{'s are' if added != 1 else ' is'} added"
        message += f", {corrected:,} corrected" if corrected else ""
        return Outcome(INDEX, f"{message}.")

    return import_upload(file=file)


def _refuse(fault: str) -> ResponseReturnValue:
    return import_page(Form(errors={"file": fault})), 400


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
