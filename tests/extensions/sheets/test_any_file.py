"""Files that nobody has written: what is shown is stored, and nothing fails."""

import csv
import io
import os
import random

import pytest
from flask import Flask
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from peewee import fn

from petstore.extensions.sheets.choices import COLUMNS, ENCODINGS, Choices
from petstore.extensions.sheets.imports import Sheet, Shown, foresee
from petstore.extensions.sheets.lines import NOT_CLOSED, NotReadable
from petstore.extensions.sheets.storing import store
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser, add_pet, category_names
from tests.harness.databases import of_both_engines

FILES = 200 * int(os.environ.get("TIMES", "1"))
PAGES = FILES // 10
OFTEN = HealthCheck.function_scoped_fixture  # one project for all files
AS_READ = {"skipinitialspace": True}
CODECS = ("utf-8", "utf-8-sig", "utf-16", "cp1252", "cp1250", "cp932", "gb18030")
HEAD_CELLS = (
    *(*COLUMNS, "Animal Name", "Species", "Outcome", "ID", "", "name", "\u200bname"),
)
CELLS = (
    *("", "", "Rex", "Ömer", "=1+1", "'=1", "007", "7", "7.0", "1", "2", "99", " x "),
    *("sold", "Adopted", "Żuk", "名前", 'a"b', "a,b", "a;b", "a|b", "x\ny", "\x07"),
    *("😀", "'", "ß\u200b", "dogs", "DOGS", "Category 7", "\u2028", "\ufeff", "#N/A"),
    *("9223372036854775808", "x" * 201, "NA", "R&amp;B", "Reserved", "Total", "~"),
)
LIKELY = {
    "name": ("Rex", "Tom", "Ömer", "=1+1", "007", " x ", "a,b", "名前", "'"),
    "category": ("Dogs", "DOGS", "7", "7.0", "Cats", "Żuk", "Category 7"),
    "status": ("", "sold", "Adopted", "available"),
    "id": ("", "", "1", "2"),
}
SEPARATORS = (",", ",", ";", "\t", "|", ", ", "~")
CHOICES = {
    "status.adopted": ("sold", "out"),
    "without_name": ("skip", "keep", "ID", "Column 2"),
    "separator": (",", ";", "|"),
    "encoding": [*ENCODINGS],
    "heads": ("none", "1", "2", "9"),
    "category": ("=Cats", "=7"),
    "status": ("=sold", "=available"),
    "without_category": ("skip", "Mice"),
    "leave_out": ("2", "1-3; 5", "7-"),
    "entities": ("read", "keep"),
    "add_again": ("yes",),
}
JUNK = b'\0| |"|\x1a|\r|\n|\xff|\xfe|sep=;\n|PK\x03\x04|{|<'.split(b"|")


def any_file(dice: random.Random) -> bytes:
    separator = dice.choice(SEPARATORS)
    heads = dice.choices(HEAD_CELLS, k=dice.randrange(1, 7))
    cells = dict.fromkeys(heads, CELLS)
    if dice.random() < 0.8:
        cells, heads = LIKELY, dice.sample([*LIKELY], k=dice.randrange(2, 5))
    lines = range(dice.randrange(6))
    rows = [[dice.choice(cells[head]) for head in heads] for _ in lines]
    if dice.random() < 0.1:
        rows.append(heads)
    lines = [separator.join(map(quoted, row)) for row in [heads, *rows]]
    text = dice.choice(("\n", "\r\n", "\r")).join(lines)
    content = bytearray(text.encode(dice.choice(CODECS), errors="replace"))
    for _ in range(dice.choice((0, 0, 0, 1, 3))):
        place = dice.randrange(len(content) + 1)
        content[place : place + dice.randrange(3)] = dice.choice(JUNK)
    return bytes(content)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set('",;\t|\n') else cell


@pytest.fixture
def large(project: Project) -> Project:
    """A project with room for any number of animals, and two of them."""
    project.change_plan(Plan("enterprise", 99, 99, 10**9))
    for name in ("Rex", "Tom"):
        add_pet(project, name)
    return project


def any_choices(dice: random.Random) -> Choices:
    if dice.random() < 0.6:
        return {}
    ours = dice.sample([*COLUMNS], k=dice.randrange(3))
    others = dice.sample([*CHOICES], k=dice.randrange(5))
    chosen = {each: dice.choice(HEAD_CELLS) for each in ours}
    return chosen | {name: dice.choice(CHOICES[name]) for name in others}


def stored(project: Project, pets: list[Pet]) -> list[dict[str, str]]:
    """Return what is in the database of these animals, as the page shows it."""
    names = category_names(project, {pet.category_id for pet in pets})
    labels = {x: name or f"Category {x}" for x, name in names.items()}
    return [
        {"name": x.name, "category_id": labels[x.category_id], "status": x.status}
        for x in pets
    ]


def require_stored(project: Project, shown: list[Shown], last: int) -> None:
    """Check that what was shown, and nothing else, is in the database."""
    added = Pet.page(project.id, after=last, limit=1_000)
    corrected = {each.id: each for each in shown if each.id}
    found = stored(project, list(Pet.select().where(Pet.id.in_([*corrected]))))
    assert sorted(map(repr, found)) == sorted(
        repr(each.there | each.new) for each in corrected.values()
    )
    assert stored(project, added) == [x.new for x in shown if not x.id]


@settings(max_examples=FILES, suppress_health_check=[HealthCheck.too_slow, OFTEN])
@given(dice=st.randoms(use_true_random=True))
@of_both_engines
def test_what_any_file_shows_is_stored(large: Project, dice: random.Random):
    content = any_file(dice)
    try:
        preview = foresee(large, content, any_choices(dice))
    except NotReadable:
        return
    shown = [*map(preview.shown, preview.changes)]
    again = foresee(large, content, preview.sheet.choices)
    assert again.digest == preview.digest
    assert [*map(again.shown, again.changes)] == shown
    if not (preview.faults or preview.sheet.questions):
        last = Pet.select(fn.MAX(Pet.id)).scalar()
        store(large, preview)
        require_stored(large, shown, last)
        event("imported" if shown else "without a change")


@settings(max_examples=FILES)
@given(st.sampled_from(",;\t|"), st.text("ab7'\",;\t|\n\r \xe9\x1a", max_size=99))
def test_each_line_is_read_or_told(separator: str, text: str):
    text = f"name{separator}category\n{text}".rstrip("\x1a")
    sheet = Sheet(text.encode())
    if any(NOT_CLOSED in fault.text for fault in sheet.faults):
        return
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, **AS_READ)
    filled = sum(any(map(str.strip, cells)) for cells in lines)
    counted = len([*sheet]) + len(sheet.faults) + sheet.left_out.total()
    assert counted == filled - 1


@settings(max_examples=PAGES, suppress_health_check=[HealthCheck.too_slow, OFTEN])
@given(dice=st.randoms(use_true_random=True))
def test_no_file_makes_a_page_fail(app: Flask, dice: random.Random):
    # Each file costs as much as 20 pages.
    project = Project.add("Shelter", None, Plan("free"))
    browser = Browser(app, Key.issue(project))
    answer = browser.upload(any_file(dice))
    for act in (browser.get, browser.answer):
        page = act(answer.location) if answer.location else answer
        assert page.status_code < 500
