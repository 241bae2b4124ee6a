"""flask animals: animals come in and go out as CSV, all of a file or nothing."""

from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import Result

from petstore.extensions.dashboard import Cursor
from petstore.extensions.dashboard.pets import list_animals
from petstore.extensions.sheets import exports
from petstore.models.activity import Event
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from tests.core.cli.outputs import failure, printed, refusal
from tests.harness.browser import add_pet, category_names
from tests.harness.databases import of_both_engines

HEAD = "name,category\n"
SKIP = "--without-name skip leaves lines without a name out."
NO_INTEGER = "must be an integer from 0 to 9223372036854775807"
CLOSED = "completed or cancelled"
OURS = "--column", "id=id"
Import = Callable[..., Result]


@pytest.fixture
def import_text(flask: Callable, project: Project, tmp_path: Path) -> Import:
    """A function that imports a text, or bytes, into the project."""

    def import_text(content: str | bytes, *options: str) -> Result:
        file = tmp_path / "animals.csv"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        options = ("--project", "shelter", "--yes", *options)
        return flask("animals", "import", str(file), *options)

    return import_text


def faults(result: Result) -> list[str]:
    """Return what a refused import says of each line."""
    assert (result.exit_code, result.stdout) == (2, "")
    *lines, last = result.stderr.splitlines()
    assert last == "Nothing was added."
    return lines


def animals(project: Project) -> list[tuple]:
    rows = Pet.page(project.id, after=0, limit=100)
    return [(pet.name, pet.category_id, pet.status) for pet in rows]


def test_export_to_a_full_disk_fails_in_one_line(
    flask: Callable, project: Project, monkeypatch: pytest.MonkeyPatch
):
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(exports, "animals", Mock(side_effect=full))
    assert failure(flask("animals", "export")) == "[Errno 28] No space left on device"


def test_animals_of_a_file_are_added(import_text: Import, project: Project):
    added = import_text(f"name,categoryId,status\nRex,7,sold\nTom,{2**63 - 1},\n")
    assert printed(added) == "2"
    assert animals(project) == [("Rex", 7, "sold"), ("Tom", 2**63 - 1, "available")]
    assert printed(import_text(HEAD + "\n,\n")) == "0"
    assert Event.select().where(Event.name == "animals_imported").count() == 1


def test_new_name_takes_no_number_of_a_line(import_text: Import, project: Project):
    lines = "Rex,,Dogs\nTom,1,Cats\nBo,,Birds\nMimi,2,\nLuna,2,Mice\n"
    assert printed(import_text(f"name,categoryId,category\n{lines}")) == "5"
    named = {1: "Cats", 2: "Mice", 3: "Dogs", 4: "Birds"}
    assert category_names(project, set(named)) == named
    assert [pet[1] for pet in animals(project)] == [3, 1, 4, 2, 2]


@pytest.fixture
def rex(project: Project) -> int:
    """An available animal of the category 7, Dogs; 8 is Cats."""
    for number, name in ((7, "Dogs"), (8, "Cats")):
        Category.rename(project.id, number, name)
    return add_pet(project, "Rex")


def test_line_with_an_id_corrects_its_animal(
    import_text: Import, project: Project, rex: int
):
    for content, corrected in (
        ("id,status\n1,SOLD\n", ("Rex", 7, "sold")),
        ("id,Name,category,status\n1,Max,,\n", ("Max", 7, "available")),
        ("id,category\n1,cats \n", ("Rex", 8, "available")),
        ("id,categoryId,category\n1,7,Cats\n", ("Rex", 8, "available")),
        ("id,categoryId,category\n1,8,Dogs\n", ("Rex", 8, "available")),
        ("id,categoryId,category\n1,7,8\n", ("Rex", 8, "available")),
        ("id,category\n1,Birds\n", ("Rex", 9, "available")),
    ):
        Pet.correct(project.id, rex, name="Rex", category_id=7, status="available")
        result = import_text(content, *OURS)
        assert (result.stdout, result.stderr) == ("0\n", "Corrected: 1.\n")
        assert animals(project) == [corrected]


@of_both_engines
def test_lines_add_and_correct(import_text: Import, project: Project, rex: int):
    tom = add_pet(project, "Tom")
    lines = f"{tom},Tim,sold,Mice\n,Bo,,Mice\n{rex},Max,,\n"
    text = f"id,name,status,category\n{lines}"
    result = import_text(text, *OURS)
    assert (result.stdout, result.stderr) == ("1\n", "Corrected: 2.\n")
    assert animals(project) == [
        ("Max", 7, "available"),
        ("Tim", 9, "sold"),
        ("Bo", 9, "available"),
    ]
    assert list_animals(project.id, Cursor(9), name="tim").rows[0].id == tom


def test_each_correction_at_fault_is_named(
    import_text: Import, project: Project, rival: Project, rex: int
):
    other = add_pet(rival, "Spot")
    order = Order.place(project.id, rex)
    lines = (
        f"{rex},Max,sold,8,Mice\n{rex},,,,\n{rex},Max,pending,9,Cats\n{other},X,,,\n"
        f"x,A,,,\n"
    )
    assert faults(
        import_text(f"id,name,status,categoryId,category\n{lines}", *OURS)
    ) == [
        f"Line 2: status cannot change before the order {order.id} is {CLOSED}",
        "Line 3: name is required",
        f"Line 4: id {rex} stands in line 2 already",
        f"Line 5: id {other} is unknown; to add the animal, leave the column id out",
        f"Line 6: id {NO_INTEGER}",
        SKIP,
    ]
    assert faults(import_text("id,categoryId,category\n1,9,Cats\n")) == [
        "Line 2: categoryId 9 is named otherwise, not Cats"
    ]
    assert animals(project) == [("Rex", 7, "pending")]


def test_dry_run_says_what_would_be(import_text: Import, project: Project, rex: int):
    text = f"id,name,category\n{rex},Max,\n,Tom,Mice\n,Bo,12\n"
    result = import_text(text, "--dry-run", *OURS)
    assert (result.exit_code, result.stdout) == (0, "2\n")
    assert result.stderr.splitlines() == [
        f"{rex}: Rex → Max, Dogs, available",
        "New: Tom, Mice, available",
        "New: Bo, Category 12, available",
        "Corrected: 1.",
        "New categories: Category 12, Mice. Nothing was done.",
    ]
    assert faults(import_text(HEAD + "Rex,\n", "--dry-run"))
    assert animals(project) == [("Rex", 7, "available")]
    assert not Event.select().where(Event.name == "animals_imported").exists()


def test_each_line_at_fault_is_named(import_text: Import, project: Project):
    for number, name in ((3, "Cats"), (5, "Cats"), (7, "Dogs")):
        Category.rename(project.id, number, name)
    text = (
        "name,categoryId,category,status\n"
        "Rex,7,,\n"
        ",x,,gone\n"
        "Tom,,Cats,\n"
        "Mi\x07mi,7,,\n"
        "Luna,7,Birds,\n"
        "Max,,,\n"
        "Bo,7,,,extra\n"
        "Lu,10,Mice,\n"
        "Lo,11,mice,\n"
        f"Bo,,{2**63},\n"
    )
    assert faults(import_text(text)) == [
        'Choose what each status means: gone (--status "gone=sold").',
        f"Line 3: name is required; categoryId {NO_INTEGER}",
        "Line 4: category Cats is the name of 3 and 5; give the number",
        "Line 5: name must not contain line breaks or other control characters",
        "Line 6: categoryId 7 is named Dogs, not Birds",
        "Line 7: categoryId is required",
        "Line 8: there are 5 cells, but 4 columns",
        "Line 10: categoryId 11 is named otherwise, not mice",
        f"Line 11: categoryId {NO_INTEGER}",
        SKIP,
    ]
    assert animals(project) == []


def test_line_break_in_a_cell_is_a_blank(import_text: Import, project: Project):
    import_text('name,category\n"Mi\nmi ","Big\r\n\vdogs\n"\n')
    assert animals(project) == [("Mi mi ", 1, "available")]
    assert category_names(project, {1}) == {1: "Big dogs"}


@pytest.mark.parametrize("name", ["\u200b", "\u3164", " \u2800\ufeff"])
def test_name_that_nobody_sees_is_none(
    import_text: Import, project: Project, name: str
):
    text = f"{HEAD}{name},7\nRex,7\n"
    assert faults(import_text(text)) == ["Line 2: name is required", SKIP]
    import_text(text, "--without-name", "skip")
    assert [pet.name for pet in Pet.page(project.id, after=0, limit=9)] == ["Rex"]


def test_mark_that_is_not_closed_is_a_fault_of_its_line(
    import_text: Import, project: Project
):
    text = HEAD + 'Mimi "the cat",7\n"Bo" the "old" dog,7\n"Tom,7\nRex,7\n'
    assert faults(import_text(text)) == ["Line 4: a quotation mark is not closed"]
    result = import_text(text, "--leave-out", "4")
    assert result.stderr == "Left out, by their numbers: 1.\n"
    names = [pet[0] for pet in animals(project)]
    assert names == ['Mimi "the cat"', 'Bo the "old" dog', "Rex"]


def test_file_that_cannot_be_used_is_refused(
    flask: Callable, import_text: Import, tmp_path: Path
):
    for path, fault in (
        ("missing.csv", "No such file"),
        (str(tmp_path), "Is a directory"),
    ):
        assert fault in refusal(flask("animals", "import", path))
    assert refusal(import_text(b"%PDF")).startswith("The file is a PDF.")
    too_large = refusal(import_text(HEAD + "\n" * 5 * 2**20))
    assert too_large.startswith("The file has more than 5 MiB. Send only the columns")
    most = f"sep=,\n{HEAD}\n" + "Rex,7\n" * 50_000
    assert import_text(most, "--dry-run").stdout == "50000\n"
    too_many = "The file has more than 50,000 animals. It begins with: sep=, / name,"
    assert refusal(import_text(most + "Tom,7\n")).startswith(too_many)


def test_full_project_gets_nothing(import_text: Import, project: Project):
    project.change_plan(Plan("enterprise", 99, 99, 5))
    add_pet(project, "Rex")
    [told] = faults(import_text(HEAD + "A,7\nB,7\nC,7\nD,7\n"))
    assert told.startswith(
        "The project has room for 3 animals and categories, but the file adds 4: "
        "leave lines out, or ask for another plan"
    )
    [told] = faults(import_text(HEAD + "A,Dogs\nB,7\nC,7\n"))
    assert told.startswith("The project has room for 3 animals")
    assert printed(import_text(HEAD + "A,Dogs\nB,7\n")) == "2"


def test_what_has_to_be_chosen_is_told_with_its_option(import_text: Import):
    [asked] = faults(import_text("ID,name,category\n9,Luna,Cats\n"))
    assert asked.startswith("0 of 1 numbers are animals here, 0 of them with that name")
    assert asked.endswith("(--column ID=id corrects, --column ID= adds all as new).")
    told = import_text(HEAD.encode() + b"T\x81m,7\n").stderr
    assert (
        "Choose the encoding, in which these lines are right: T\ufffdm,7 (--e" in told
    )
    assert "Line 2: name has letters that are not Windows-1252" in told


def test_corrections_are_asked_about(flask: Callable, tmp_path: Path, rex: int):
    file = tmp_path / "animals.csv"
    file.write_text(f"id,name,status\n{rex},Rex,sold\n")
    result = flask("animals", "import", str(file))
    assert result.exit_code == 2
    assert f"{rex}: Rex, Dogs, available → sold" in result.stderr
    assert "Add --yes to do it" in result.stderr
    assert flask("animals", "import", str(file), "--yes").exit_code == 0


def test_none_and_null_may_be_names(import_text: Import, project: Project):
    text = HEAD + "None,7\nnull,7\nNA,7\n ,7\n"
    assert len(faults(import_text(text))) == 4 + 1
    result = import_text(text, "--without-name", "keep")
    assert result.stderr == "Left out, without a name: 1.\n"
    assert [pet[0] for pet in animals(project)] == ["None", "null", "NA"]


def test_lines_without_a_name_are_left_out(import_text: Import, project: Project):
    result = import_text(HEAD + "'#N/A,7.0\n,7\n", "--without-name", "skip")
    assert result.stderr == "Left out, without a name: 1.\n"
    assert animals(project) == [("#N/A", 7, "available")]
