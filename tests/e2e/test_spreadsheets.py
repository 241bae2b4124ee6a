"""Files for spreadsheets in a browser: 200 animals come in, and all go out."""

import csv
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.conftest import World
from tests.e2e.people import BASE, DASHBOARD, require_accessible_everywhere, sign_in
from tests.harness.clients import ORDERS, PETS, Client

COUNT = 200
OTHER_SYSTEM = "Chip;name;Weight;category\r\n" + "".join(
    f'{number};"Animal {number}";"3,5";{("Dogs", "Cats")[number % 2]}\r\n'
    for number in range(COUNT)
)


def choose(page: Page, file: Path) -> None:
    """Choose a file in the form of the list of animals, and send it."""
    page.goto(f"{DASHBOARD}/animals")
    page.get_by_text("Import animals from a spreadsheet").click()
    page.get_by_label("CSV file").set_input_files(file)
    page.get_by_role("button", name="Import animals").click()


def test_200_animals_of_another_system_come_in_and_go_out(
    page: Page, key: str, tmp_path: Path
):
    file = tmp_path / "animals.csv"
    file.write_bytes(b"\xef\xbb\xbf" + OTHER_SYSTEM.encode())
    sign_in(page, key)
    choose(page, file)
    expect(page.get_by_text(f"{COUNT} animals are added.")).to_be_visible()
    require_accessible_everywhere(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    with Path(download.value.path()).open(newline="") as content:
        rows = list(csv.DictReader(content))
    assert [row["name"] for row in rows] == [f"Animal {n}" for n in range(COUNT)]
    assert {row["category"] for row in rows} == {"Dogs", "Cats"}
    assert download.value.suggested_filename.startswith("animals-")


def test_each_line_at_fault_is_shown_with_the_form(
    page: Page, key: str, tmp_path: Path
):
    file = tmp_path / "animals.csv"
    file.write_text("name,category\nRex,Dogs\n,Dogs\nTom,\n")
    sign_in(page, key)
    choose(page, file)
    expect(page.get_by_text("Nothing was added")).to_be_visible()
    faults = page.get_by_role("alert").get_by_role("listitem")
    expect(faults).to_have_text(
        ["Line 3: name: is required", "Line 4: category: is required"]
    )
    require_accessible_everywhere(page)
    expect(page.get_by_label("CSV file")).to_be_visible()


def test_accountant_counts_what_was_sold_in_a_month(world: World, page: Page, key: str):
    with Client(world.instances[0].url, key) as client:
        for name, end in (("Rex", "completed"), ("Tom", "cancelled")):
            pet = {"name": name, "categoryId": 1}
            order = {"petId": client.send("POST", PETS, pet, Host=BASE).json["id"]}
            path = (
                f"{ORDERS}/{client.send('POST', ORDERS, order, Host=BASE).json['id']}"
            )
            closed = client.send("PATCH", path, {"status": end}, Host=BASE).json
    sign_in(page, key)
    page.goto(f"{DASHBOARD}/orders")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    month = closed["updatedAt"][:7]
    with Path(download.value.path()).open(newline="") as content:
        sold = [
            row["pet"]
            for row in csv.DictReader(content)
            if row["status"] == "completed" and row["updatedAt"].startswith(month)
        ]
    assert sold == ["Rex"]
