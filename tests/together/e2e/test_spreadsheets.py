"""Files for spreadsheets, in a browser, and as LibreOffice itself reads and writes."""

import csv
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet
from tests.together.e2e.people import DASHBOARD, require_accessible_everywhere, sign_in

COUNT = 200
OTHER_SYSTEM = "Chip;name;Weight;category\r\n" + "".join(
    f'{number};"Animal {number}";"3,5";{("Dogs", "Cats")[number % 2]}\r\n'
    for number in range(COUNT)
)


# What spreadsheets take for something else, or separate.
NAMES = ("Rex", "Ömer, der Hund", "=1+1", "'=1", "007", "1/2", "3,5", "1e5", 'a;"@b')
NAMES += ("a,=1+1,b", "a,'=1", "Litter 4, 12.03.24")


# How LibreOffice reads and writes CSV: the number of a language; separator, quotation
# mark and encoding (1: Windows-1252; 76: UTF-8).
LOCALES = {
    "English": (1033, "44,34,76"),
    "German": (1031, "59,34,1"),
    "French": (1036, "59,34,1"),
}


def test_200_animals_of_another_system_come_in_and_go_out(
    page: Page, key: str, tmp_path: Path
):
    file = tmp_path / "animals.csv"
    file.write_bytes(b"\xef\xbb\xbf" + OTHER_SYSTEM.encode())
    sign_in(page, key)
    page.goto(f"{DASHBOARD}/animals")
    page.get_by_text("Import a file", exact=True).click()
    page.get_by_label("CSV file").set_input_files(file)
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_text("New categories: Dogs, Cats.")).to_be_visible()
    require_accessible_everywhere(page)
    # The file has other columns, so nothing becomes available unseen.
    status = page.get_by_label("Status", exact=True)
    status.select_option(label="No column: all are available")
    page.get_by_role("button", name="Show the result").click()
    page.get_by_role("button", name="Import the file").click()
    expect(page.get_by_text(f"Added {COUNT} animals.")).to_be_visible()
    require_accessible_everywhere(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    with Path(download.value.path()).open(newline="", encoding="utf-8-sig") as content:
        rows = list(csv.DictReader(content))
    assert [row["name"] for row in rows] == [f"Animal {n}" for n in range(COUNT)]
    assert {row["category"] for row in rows} == {"Dogs", "Cats"}
    assert download.value.suggested_filename.startswith("animals-")


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize(("language", "saved_as"), LOCALES.values(), ids=LOCALES)
def test_animals_go_through_libreoffice_and_come_back(
    app: Flask,
    project: Project,
    tmp_path: Path,
    language: int,
    saved_as: str,
    separator: str,
):
    for number, name in ((7, "Hunde"), (8, "=Katzen")):
        Category.rename(project.id, number, name)
    ids = [add_pet(project, name, 7 + n % 2) for n, name in enumerate(NAMES)]
    browser = Browser(app, Key.issue(project))
    file = tmp_path / "animals.csv"
    file.write_bytes(browser.get(f"/dashboard/animals.csv?separator={separator}").data)
    # Special numbers are those that only look like some: dates, for example.
    read = f"--infilter=CSV:{ord(separator)},34,76,1,,{language},false,true"
    sheet = convert(file, "fods", read)
    text, edits = re.subn(">Rex<", ">Räx<", sheet.read_text())
    sheet.write_text(text)
    saved = convert(sheet, f"csv:Text - txt - csv (StarCalc):{saved_as},1")
    assert (edits, saved.read_bytes() == file.read_bytes()) == (1, False)
    answer = browser.import_file(saved.read_bytes())
    assert "Added 0 animals, corrected 1." in browser.read(answer.location)
    pets = Pet.page(project.id, after=0, limit=100)
    kept = [(pet.id, pet.name, pet.category_id) for pet in pets]
    names = ("Räx", *NAMES[1:])
    assert kept == [(ids[n], name, 7 + n % 2) for n, name in enumerate(names)]


def convert(file: Path, kind: str, *options: str) -> Path:
    """Let LibreOffice open a file and save it as another kind, in its own folder."""
    folder = file.parent / kind.partition(":")[0]
    profile = f"-env:UserInstallation={(file.parent / 'profile').as_uri()}"
    command = (shutil.which("soffice"), profile, "--headless", *options)
    asked = ("--convert-to", kind, "--outdir", folder, file)
    subprocess.run([*command, *asked], check=True, capture_output=True, timeout=120)
    return folder / f"{file.stem}.{folder.name}"
