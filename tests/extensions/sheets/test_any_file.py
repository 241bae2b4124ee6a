"""Files that nobody has written: what is shown is stored, and nothing fails."""

import os
import random

from flask import Flask

from petstore.extensions.sheets.choices import COLUMNS, ENCODINGS, Choices
from petstore.extensions.sheets.imports import Shown, foresee
from petstore.extensions.sheets.lines import NotReadable
from petstore.extensions.sheets.storing import store
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser, add_pet
from tests.harness.databases import of_both_engines

FILES = 200 * int(os.environ.get("TIMES", "1"))
PAGES = FILES // 10
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


def any_choices(dice: random.Random) -> Choices:
    if dice.random() < 0.6:
        return {}
    ours = dice.sample([*COLUMNS], k=dice.randrange(3))
    others = dice.sample([*CHOICES], k=dice.randrange(5))
    chosen = {each: dice.choice(HEAD_CELLS) for each in ours}
    return chosen | {name: dice.choice(CHOICES[name]) for name in others}


def stored(project: Project, pets: list[Pet]) -> list[dict[str, str]]:
    """Return what is in the database of these animals, as the page shows it."""
    names = Category.known(project.id, {pet.category_id for pet in pets})
    labels = {x: name or f"Category {x}" for x, name in names.items()}
    return [
        {"name": x.name, "category_id": labels[x.category_id], "status": x.status}
        for x in pets
    ]


def require_stored(project: Project, shown: list[Shown], last: int) -> None:
    """Check that what was shown, and nothing else, is in the database."""
    added = Pet.page(project.id, after=last, limit=1_000)
    corrected = {each.id: each for each in shown if each.id}
    found = stored(project, list(Pet.with_ids(project.id, corrected).values()))
    assert sorted(map(repr, found)) == sorted(
        repr(each.there | each.new) for each in corrected.values()
    )
    assert stored(project, added) == [x.new for x in shown if not x.id]


@of_both_engines
def test_what_any_file_shows_is_stored(app: Flask, project: Project):
    dice = random.Random(os.environ.get("SEED", "1"))
    project.change_plan(Plan("enterprise", 99, 99, 10**9))
    last = [add_pet(project, name) for name in ("Rex", "Tom")][-1]
    read = imported = 0
    for _ in range(FILES):
        content = any_file(dice)
        try:
            preview = foresee(project, content, any_choices(dice))
        except NotReadable:
            continue
        shown, read = [*map(preview.shown, preview.changes)], read + 1
        again = foresee(project, content, preview.sheet.choices)
        assert again.digest == preview.digest
        assert [*map(again.shown, again.changes)] == shown
        if not (preview.faults or preview.sheet.questions):
            store(project, preview)
            require_stored(project, shown, last)
            last = max(
                [last, *(x.id for x in Pet.page(project.id, after=last, limit=99))]
            )
            imported += bool(shown)
    assert read > FILES / 2
    assert imported > FILES / 100


def test_no_file_makes_a_page_fail(app: Flask, project: Project):
    dice = random.Random(os.environ.get("SEED", "2"))
    for number in range(PAGES):
        if number % 8 == 0:  # each file costs as much as 20 pages
            project = Project.add(f"Shelter {number}", None, Plan("business"))
            browser = Browser(app, Key.issue(project))
        answer = browser.upload(any_file(dice))
        for act in (browser.get, browser.answer):
            assert (
                act(answer.location) if answer.location else answer
            ).status_code < 500
