"""A shelter's week: each task is done in a browser, without a program.

What is exchanged with spreadsheets has its own file.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import World
from tests.e2e.people import BASE, DASHBOARD, sign_in
from tests.harness.clients import ORDERS, PETS, Client

ANIMALS = (("Rex", 1), ("Rexx", 1), ("Luna", 1), ("Ömer", 2), ("Tom", 2), ("Ada", 1))
ORDERED = {"Tom": "Ms Lovelace, 555-0100", "Ada": "Mr Babbage"}


class Task(NamedTuple):
    """What a worker does, beginning at a page, and what is seen then."""

    name: str
    path: str
    do: Callable[[Page], object]
    seen: str


@pytest.fixture
def shelter(world: World, page: Page, key: str) -> Page:
    """The dashboard of a shelter with dogs and cats, some of them ordered."""
    with Client(world.instances[0].url, key) as client:
        for number, name in ((1, "Dogs"), (2, "Cats")):
            path = f"/v1/categories/{number}"
            client.send("PUT", path, {"name": name}, Host=BASE)
        for name, category in ANIMALS:
            rex = {"name": name, "categoryId": category}
            pet = client.send("POST", PETS, rex, Host=BASE).json["id"]
            if name in ORDERED:
                order = {"petId": pet, "reference": ORDERED[name]}
                client.send("POST", ORDERS, order, Host=BASE)
    sign_in(page, key)
    return page


def click(page: Page | Locator, name: str) -> None:
    page.get_by_role("button", name=name).click()


def row(page: Page, name: str) -> Locator:
    """Return the row of a list that begins with a name."""
    cell = page.get_by_role("rowheader", name=name, exact=True)
    return page.get_by_role("row").filter(has=cell)


def ask(page: Page | Locator, title: str, answer: str) -> None:
    """Open a question and answer it."""
    page.locator("summary").filter(has_text=title).click()
    click(page.locator("details[open]").last, answer)


def add(page: Page, name: str, category: str, status: str = "Available") -> None:
    page.get_by_text("Add an animal").click()
    page.get_by_label("Name", exact=True).first.fill(name)
    page.get_by_label("Category", exact=True).first.fill(category)
    page.get_by_role("combobox", name="Status").select_option(status)
    click(page, "Add animal")


def change(page: Page, name: str) -> Locator:
    """Open what can be changed in the row of an animal."""
    row(page, name).get_by_role("link", name="Change").click()
    expect(row(page, name).get_by_role("button", name="Save")).to_be_visible()
    return row(page, name)


def correct(page: Page, name: str, field: str, text: str) -> None:
    at = change(page, name)
    at.get_by_label(field, exact=True).fill(text)
    click(at, "Save")


def order(page: Page, name: str, reference: str) -> None:
    at = change(page, name)
    at.get_by_label("For whom").fill(reference)
    click(at, "Order")


def search(page: Page, text: str) -> None:
    page.get_by_role("searchbox").fill(text)
    page.keyboard.press("Enter")


def search_number(page: Page) -> None:
    search(page, f"#{row(page, 'Luna').locator('td.id').inner_text()}")


def choose(page: Page, label: str) -> None:
    page.get_by_role("link", name=label, exact=True).click()


def open_animal(page: Page, name: str, do: Callable[[Page], object]) -> None:
    row(page, name).get_by_role("link", name=name, exact=True).click()
    do(page)


def print_list(page: Page, status: str) -> None:
    choose(page, status)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")


def name_category(page: Page, category: int, name: str) -> None:
    page.locator("summary").filter(has_text=f"Rename category {category}").click()
    page.get_by_label("Name (optional)").locator("visible=true").fill(name)
    click(page, f"Save category {category}")


def cancel_and_order_again(page: Page) -> None:
    ask(page.get_by_role("row").filter(has_text="Tom"), "Cancel", "Cancel order")
    page.get_by_role("link", name="Tom").first.click()
    page.get_by_label("For whom").fill("Mr Turing")
    click(page, "Order")


def keep(page: Page) -> None:
    page.locator("summary").filter(has_text="Cancel").first.click()
    page.get_by_role("link", name="Keep").locator("visible=true").click()
    expect(page.get_by_role("button", name="Cancel order")).to_have_count(0)


TASKS = (
    Task("a dog arrives", "/animals", lambda p: add(p, "Max", "Dogs"), "Max is added"),
    Task(
        "the first rabbit arrives",
        "/animals",
        lambda p: add(p, "Flopsy", "Rabbits"),
        "Rabbits",
    ),
    Task(
        "a dog arrives that is sold already",
        "/animals",
        lambda p: add(p, "Max", "Dogs", "Sold"),
        "Max is added",
    ),
    Task(
        "a name is misspelt",
        "/animals",
        lambda p: correct(p, "Rexx", "New name", "Roxy"),
        "Roxy is corrected",
    ),
    Task(
        "a dog was taken for a cat",
        "/animals",
        lambda p: correct(p, "Ömer", "New category", "Dogs"),
        "Ömer is corrected",
    ),
    Task(
        "a dog was entered twice",
        "/animals",
        lambda p: ask(change(p, "Rexx"), "Withdraw", "Yes, withdraw it"),
        "is withdrawn",
    ),
    Task(
        "an animal has died",
        "/animals",
        lambda p: open_animal(
            p, "Luna", lambda a: ask(a, "Withdraw", "Yes, withdraw it")
        ),
        "is withdrawn",
    ),
    Task(
        "somebody orders by telephone",
        "/animals",
        lambda p: order(p, "Rex", "Ms Hopper, 555-0199"),
        "Ms Hopper, 555-0199",
    ),
    Task(
        "an adopter rings up and gives a name",
        "/orders",
        lambda p: search(p, "lovelace"),
        "1 order found",
    ),
    Task(
        "an adopter rings up and names the animal",
        "/orders",
        lambda p: search(p, "tom"),
        "Ms Lovelace, 555-0100",
    ),
    Task(
        "an adopter takes an animal home",
        "/orders?name=babbage",
        lambda p: ask(p, "Complete", "Yes, complete it"),
        "is completed",
    ),
    Task(
        "an adopter does not come",
        "/orders?name=babbage",
        lambda p: ask(p, "Cancel", "Cancel order"),
        "its animal is available",
    ),
    Task("a click was a mistake", "/orders", keep, "Placed"),
    Task(
        "somebody else wants a cancelled animal",
        "/orders",
        cancel_and_order_again,
        "Mr Turing",
    ),
    Task(
        "which animals are available?",
        "/animals",
        lambda p: choose(p, "Available"),
        "4 animals found",
    ),
    Task(
        "which dogs are there?",
        "/animals",
        lambda p: p.get_by_role("link", name="Dogs").first.click(),
        "4 animals found",
    ),
    Task(
        "which dogs are available?",
        "/animals?category=1",
        lambda p: choose(p, "Available"),
        "3 animals found",
    ),
    Task(
        "the available dogs are printed",
        "/animals?category=1",
        lambda p: print_list(p, "Available"),
        "Available · Dogs",
    ),
    Task(
        "the open orders are printed",
        "/orders",
        lambda p: print_list(p, "Placed"),
        "Ms Lovelace, 555-0100",
    ),
    Task("where is Ömer?", "/animals", lambda p: search(p, " ömer "), "1 animal found"),
    Task("which animal is number 3?", "/animals", search_number, "1 animal found"),
    Task(
        "there is no such animal",
        "/animals",
        lambda p: search(p, "zzz"),
        "No animal matches",
    ),
    Task(
        "who has ordered Tom?",
        "/animals",
        lambda p: open_animal(p, "Tom", lambda _: None),
        "Ms Lovelace, 555-0100",
    ),
    Task(
        "a category gets another name",
        "/categories",
        lambda p: name_category(p, 2, "Kittens"),
        "is named Kittens",
    ),
    Task(
        "how many animals were sold?",
        "/animals",
        lambda p: choose(p, "Sold"),
        "No animal matches",
    ),
)


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_a_worker_needs_no_program(shelter: Page, task: Task):
    shelter.goto(f"{DASHBOARD}{task.path}")
    task.do(shelter)
    expect(shelter.get_by_text(task.seen).locator("visible=true").first).to_be_visible()


def test_ten_animals_in_a_row_take_their_names_and_one_key_each(shelter: Page):
    shelter.goto(f"{DASHBOARD}/animals")
    add(shelter, "Pup 0", "Dogs")
    keys = 0
    for number in range(1, 10):
        expect(shelter.get_by_text(f"Pup {number - 1} is added")).to_be_visible()
        expect(shelter.get_by_label("Name", exact=True)).to_be_focused()
        shelter.keyboard.type(f"Pup {number}")
        shelter.keyboard.press("Enter")
        keys += len(f"Pup {number}") + 1
    expect(shelter.get_by_text("Pup 9 is added")).to_be_visible()
    assert keys == 9 * len("Pup 1") + 9


def test_an_adoption_takes_five_clicks(shelter: Page):
    shelter.goto(f"{DASHBOARD}/animals")
    search(shelter, "luna")
    order(shelter, "Luna", "Ms Hopper")  # Change, Order
    ask(shelter, "Complete", "Yes, complete it")
    expect(shelter.get_by_text("Sold", exact=True)).to_be_visible()
