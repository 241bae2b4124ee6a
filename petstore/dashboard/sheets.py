"""/dashboard/animals.csv, orders.csv and animals/import: files for spreadsheets."""

from collections.abc import Iterator
from itertools import chain, islice

from flask import Response, current_app, render_template, request
from flask.typing import ResponseReturnValue

from petstore import timeouts
from petstore.dashboard.forms import EMPTY, Form, Outcome, idempotent
from petstore.dashboard.pages import pages_blueprint
from petstore.dashboard.pets import INDEX
from petstore.dashboard.sessions import current_project
from petstore.models.grants import WRITE
from petstore.models.projects import ProjectFull
from petstore.sheets import exports
from petstore.sheets.imports import (
    Fault,
    LinesAtFault,
    NotReadable,
    Sheet,
    import_animals,
)
from petstore.web.turns import Turns, compute_alone, keep_turn, turns_of

bp = pages_blueprint("sheets", __name__, "", takes=WRITE, counts_forms=True)


@bp.get("/animals.csv")
def animals() -> Response:
    """Return all animals."""
    return _download("animals", exports.animals(current_project().id))


@bp.get("/orders.csv")
def orders() -> Response:
    """Return all orders."""
    return _download("orders", exports.orders(current_project().id))


@bp.get("/animals/import")
def import_page(form: Form = EMPTY, faults: list[Fault] | None = None) -> str:
    """Ask for a file, or show what is wrong with one."""
    return render_template("import.html", form=form, faults=faults)


@bp.post("/animals/import")
def import_file() -> ResponseReturnValue:
    """Add all animals of a file, or none."""
    file = request.files.get("file")
    content = file.read() if file else b""
    if not content:
        return _refuse("Choose a file that is not empty.")
    limit = timeouts.LIMITS.upload_bytes
    if len(content) > limit:
        return _refuse(f"The file has more than {limit // 1024} KiB.")
    compute_alone(current_project().id)

    @idempotent  # another file is another form
    def add_animals(content: bytes) -> Outcome:
        added = import_animals(current_project(), sheet)
        verb = "s are" if added != 1 else " is"
        return Outcome(INDEX, f"{added:,} animal{verb} added.")

    try:
        sheet = Sheet(content)
        return add_animals(content=content)
    except (NotReadable, ProjectFull) as error:
        return _refuse(str(error))
    except LinesAtFault as error:
        return import_page(faults=error.faults), 400


def _refuse(fault: str) -> ResponseReturnValue:
    return import_page(Form(errors={"file": fault})), 400


def _download(name: str, parts: Iterator[bytes]) -> Response:
    keep_turn()
    parts = _computed_alone(turns_of(current_app), current_project().id, parts)
    # The first rows are read before the response begins, so that an outage is shown.
    beginning = b"".join(islice(parts, 3))
    disposition = f'attachment; filename="{name}-{current_project().slug}.csv"'
    headers = {"Content-Disposition": disposition}
    return Response(chain([beginning], parts), headers=headers, mimetype="text/csv")


def _computed_alone(
    turns: Turns, project_id: int, parts: Iterator[bytes]
) -> Iterator[bytes]:
    """Yield the parts, of which one of a project is computed at a time."""
    part: bytes | None = b""
    while part is not None:
        yield part
        with turns.alone(project_id):
            part = next(parts, None)
