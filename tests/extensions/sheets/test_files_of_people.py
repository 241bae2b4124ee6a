"""What people's files have is read, and their own downloads come back unchanged."""

import codecs
import io
import re
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from petstore.extensions.sheets import exports, lines
from petstore.extensions.sheets.choices import ENCODINGS, NONE
from petstore.extensions.sheets.imports import foresee
from petstore.extensions.sheets.lines import NotReadable
from petstore.extensions.sheets.storing import store
from petstore.models.categories import Category
from petstore.models.projects import Plan, Project
from tests.harness.browser import add_pet
from tests.harness.databases import of_both_engines

HEAD = "name,category\n"
ALL_AVAILABLE = {"status": "=available"}
BREAKS = 40_000 * "\n"
NAMES = (
    *("Rex", "Ömer, der Hund", "=1+1", "'=1", "007", "1/2", "3,5", "1e5", 'a;"@b', "-"),
    *(" Rex", "' Rex", "#N/A", "'#N/A", "+49 1", "@x", "\u00a0x", "Zoë😀", "a;=b", "#"),
    *("'Rex", " -x", "\u2028b"),
)
CATEGORIES = {3: "Cats", 4: "cats", 5: "CATS", 6: "-007", 7: "=Dogs; small", 12: "7"}
CASES = yaml.safe_load(Path(__file__).with_name("files_of_people.yaml").read_text())
ENCODED = dict.fromkeys(("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"))
ENCODED |= {codec: name for name, (codec, _) in ENCODINGS.items()}
LETTERS = {
    **dict.fromkeys(("cp1250", "iso8859_2", "cp852"), "Żuk"),
    **dict.fromkeys(("cp1251", "koi8_r", "cp866"), "Шарик"),
    "cp1253": "Ρεξ",
    "cp1254": "Paşa",
    "cp1255": "רקס",
    "cp1256": "ريكس",
    "cp1257": "Rūta",
    "cp1258": "Mèo",
    "cp874": "แมว",
    "cp932": "髙ポチ",
    "euc_jp": "ポチ",
    "cp950": "小白",
    "cp949": "똠이",
}


@pytest.mark.parametrize(("content", "pets"), CASES["read"].values(), ids=CASES["read"])
def test_file_is_read(project: Project, content: str, pets: list[list[str]]):
    content = content.replace("{picture}", "x" * 140_000)
    choices = NONE if "tatus" in content.split("\n")[0] else ALL_AVAILABLE
    preview = foresee(project, content.encode(), choices)
    assert (preview.faults, preview.sheet.questions) == ([], [])
    assert [[*each.new.values()] for each in preview.first] == pets


@pytest.mark.parametrize(("codec", "chosen"), ENCODED.items(), ids=ENCODED)
def test_encoding_is_chosen(project: Project, codec: str, chosen: str | None):
    name = LETTERS.get(codec, "Zoë")
    content = f"{HEAD}{name},Dogs\n".encode(codec)
    choices = {"encoding": chosen} if chosen else {}
    [pet] = foresee(project, content, choices).first
    assert pet.new["name"] == name


@pytest.mark.parametrize("error", ["#N/A", "#NAME?", "#REF!", " #VALUE! ", "#DIV/0!"])
def test_errors_of_spreadsheets_are_at_fault(project: Project, error: str):
    [fault] = foresee(project, f"{HEAD}Rex,{error}\n".encode()).faults
    assert (
        str(fault) == f"Line 2: category is an error of a spreadsheet, {error.strip()}"
    )


def test_long_cell_of_a_chosen_column_is_at_fault_at_once(project: Project):
    [fault] = foresee(project, f"{HEAD}Rex,{'x' * 1_001}\n".encode()).faults
    assert str(fault) == "Line 2: category must have 1 to 200 characters"


@pytest.mark.parametrize(
    ("content", "times"),
    [
        (f'name,category,x\nRex,Dogs,"{BREAKS}"', 1),
        (f'name,category,x\nRex,Dogs,"{BREAKS}', 1),
        (f"{HEAD}{BREAKS}Zo\xeb,Dogs\n", 2),  # once for other letters than ASCII
    ],
)
def test_others_go_on_while_a_cell_with_many_lines_is_read(
    project: Project,
    content: str,
    times: int,
    set_limits: Callable,
    monkeypatch: pytest.MonkeyPatch,
):
    set_limits(part_seconds=0.0)
    ways: list[None] = []
    monkeypatch.setattr(lines, "give_way", lambda: ways.append(None))
    foresee(project, content.encode("cp1252"))
    assert len(ways) >= times * len(BREAKS)


def test_heads_are_looked_for_at_the_beginning(project: Project):
    with pytest.raises(NotReadable, match="begins with many empty lines"):
        foresee(project, b"\n" * 400 + b"name,category\nRex,Dogs\n")


@pytest.mark.parametrize(
    "heads", [",".join("x" * 301), '"name,category', "," * 100_001]
)
def test_file_that_cannot_be_used_is_told_with_its_beginning(
    project: Project, heads: str
):
    with pytest.raises(NotReadable, match="It begins with: "):
        foresee(project, f"{heads}\nRex,Dogs\n".encode())


@pytest.mark.parametrize(("content", "told"), CASES["refused"].items())
def test_file_that_is_no_table_is_told_as_what_it_is(
    project: Project, content: str, told: str
):
    with pytest.raises(NotReadable, match=f"^{re.escape(told)}"):
        foresee(project, content.encode("latin-1"))


@pytest.mark.parametrize(("name", "told"), CASES["archives"].items())
def test_archive_is_told_as_what_it_is(project: Project, name: str, told: str):
    ZipFile(archive := io.BytesIO(), "w").writestr(name, name)
    with pytest.raises(NotReadable, match=f"^{re.escape(told)}"):
        foresee(project, archive.getvalue())


@of_both_engines
@pytest.mark.parametrize("separator", [",", ";"])
def test_downloads_come_back_without_a_change(project: Project, separator: str):
    project.change_plan(Plan("enterprise", 99, 99, 20_000))
    for number, name in CATEGORIES.items():
        Category.rename(project.id, number, name)
    for name in NAMES:
        add_pet(project, name, 12)
    several = "".join(f"Animal {n},{n % 9}\n" for n in range(9_000))
    store(project, foresee(project, f"name,categoryId\n{several}".encode()))
    file = codecs.BOM_UTF8 + b"".join(exports.animals(project.id, separator))
    preview = foresee(project, file)
    assert (preview.faults, preview.sheet.questions) == ([], [])
    assert preview.changes == []


@of_both_engines
def test_own_download_is_ours_whatever_was_done_to_its_columns(project: Project):
    for name in NAMES:
        add_pet(project, name)
    rows = b"".join(exports.animals(project.id)).decode().split("\r\n")[:-1]
    wider = "\n".join(f"{row},{n}" for n, row in enumerate(rows))
    longer = "\n".join([*rows, ",Luna,7,,"])
    narrower = "id,status\n" + "".join(f"{n},sold\n" for n in range(1, 21))
    for content, added, corrected in ((wider, 0, 0), (longer, 1, 0), (narrower, 0, 20)):
        preview = foresee(project, content.encode())
        assert (preview.faults, preview.sheet.questions) == ([], [])
        assert (len(preview.added), len(preview.corrected)) == (added, corrected)


def test_download_of_another_installation_is_asked_about(
    project: Project, rival: Project
):
    for name in NAMES:
        add_pet(project, name)
        add_pet(rival, f"{name} 2")
    file = b"".join(exports.animals(rival.id)).replace(b"\n2,", b"\n1,")
    [question] = foresee(project, file).sheet.questions
    assert question.text.endswith("correct them, or add all animals as new?")
    assert len(foresee(project, file, {"id": ""}).added) == len(NAMES)
