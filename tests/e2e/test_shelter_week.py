"""A shelter's week: each task takes at most four steps, by mouse or by keyboard.

What is exchanged with spreadsheets has its own file.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import World
from tests.e2e.people import BASE, DASHBOARD, sign_in
from tests.harness.clients import ORDERS, PETS, Client

MOST_STEPS = 4
CATEGORIES = {1: "Dogs", 2: "Cats", 3: "Fish"}
ANIMALS = {
    "Rex": 1,
    "Rexx": 1,
    "Luna": 1,
    "Möhre": 2,
    "Kim": 2,
    "Tom": 2,
    "Ada": 1,
    "Bello": 1,
}
ORDERED = {
    "Tom": "Ms Lovelace, 555-0100",
    "Ada": "Mr Babbage",
    "Bello": "Mr Turing, 555-0199",
}


class Task(NamedTuple):
    """What a worker does, beginning at a page, and what is seen then.

    A step is the beginning of what is clicked, or the fields of a form with their
    texts. `{Rex}` stands for the number of an animal.
    """

    name: str
    path: str
    steps: tuple[str | dict[str, str], ...]
    seen: str


ADD = "Add an animal"
PLACED, CLOSED = "/orders?name=babbage", "/orders?status=completed"
TASKS = (
    Task(
        "a dog arrives",
        "/animals",
        (ADD, {"Name": "Max", "Category": "dogs "}, "Add animal"),
        "Max is added",
    ),
    Task(
        "the first rabbit arrives",
        "/animals",
        (ADD, {"Name": "Flopsy", "Category": "Rabbits"}, "Add animal"),
        "Rabbits",
    ),
    Task(
        "a dog arrives that is sold already",
        "/animals",
        (ADD, {"Name": "Max", "Category": "1", "Status": "Sold"}, "Add animal"),
        "Max is added",
    ),
    Task(
        "two puppies are in a spreadsheet",
        "/animals/import",
        (
            {"CSV file": "name;category\nPup 1;DOGS\nPup 2;Puppies\n"},
            "Import animals",
            "Yes, import it",
        ),
        "2 animals are added",
    ),
    Task(
        "a name is misspelt",
        "/animals",
        ("Change Rexx", {"Name": "Roxy"}, "Save"),
        "Roxy is saved",
    ),
    Task(
        "a cat was taken for a dog",
        "/animals",
        ("Change Luna", {"Category": "CATS"}, "Save"),
        "Luna is saved",
    ),
    Task(
        "a cat is the first of its kind",
        "/animals",
        ("Change Möhre", {"Category": "Lynxes"}, "Save"),
        "Lynxes",
    ),
    Task(
        "a status is wrong",
        "/animals",
        ("Change Rex", {"Status": "Sold"}, "Save"),
        "It is sold",
    ),
    Task(
        "an animal is pending and nobody knows why",
        "/animals?status=pending",
        ("Kim", "Make it available"),
        "It is available",
    ),
    Task(
        "an animal is returned",
        "/animals?status=sold",
        ("Bello", "Take it back"),
        "It is available",
    ),
    Task(
        "an animal is entered twice",
        "/animals",
        ("Rexx", "Withdraw", "Yes, withdraw it"),
        "is withdrawn",
    ),
    Task(
        "a sold animal has died",
        "/animals",
        ("Bello", "Withdraw", "Yes, withdraw it"),
        "is withdrawn",
    ),
    Task(
        "withdrawing was a mistake",
        "/animals",
        ("Rex", "Withdraw", "Keep"),
        "entered twice",
    ),
    Task(
        "an ordered animal is not withdrawn",
        "/animals",
        ("Tom",),
        "complete or cancel it first",
    ),
    Task(
        "somebody orders by telephone",
        "/animals",
        ("Rex", {"For whom": "Ms Hopper, 555-0177"}, "Order"),
        "Ms Hopper, 555-0177",
    ),
    Task(
        "an adopter rings up and gives a name",
        "/orders",
        ({"For whom": "LOVELACE"}, "Search"),
        "1 order found",
    ),
    Task(
        "an adopter rings up and gives a number",
        "/orders",
        ({"For whom": "555-0100"}, "Search"),
        "Ms Lovelace",
    ),
    Task(
        "an adopter rings up and names the animal",
        "/orders",
        ({"For whom": "tom"}, "Search"),
        "Ms Lovelace, 555-0100",
    ),
    Task(
        "an adopter takes an animal home",
        PLACED,
        ("Complete order", "Yes, complete it"),
        "is completed",
    ),
    Task(
        "an adopter stands at the cage",
        "/animals",
        ("Ada", "Complete order", "Yes, complete it"),
        "is completed",
    ),
    Task(
        "an adopter does not come",
        PLACED,
        ("Cancel order", "Yes, cancel it"),
        "its animal is available",
    ),
    Task("a click was a mistake", PLACED, ("Cancel order", "Keep"), "Placed"),
    Task(
        "an order is for somebody else",
        PLACED,
        ("Order", {"For whom": "Ms Byron"}, "Save"),
        "Ms Byron",
    ),
    Task(
        "an adopter wants to be forgotten",
        CLOSED,
        ("Order", {"For whom": ""}, "Save"),
        "No reference",
    ),
    Task(
        "an old order is deleted",
        CLOSED,
        ("Order", "Delete order", "Yes, delete it"),
        "is deleted",
    ),
    Task(
        "an open order is not deleted",
        PLACED,
        ("Order",),
        "complete or cancel it first",
    ),
    Task("which animals are there?", "/animals", ("Available",), "4 animals found"),
    Task("how many are pending?", "/animals", (), "Pending 3"),
    Task("which dogs are there?", "/animals", ("Dogs",), "5 animals found"),
    Task(
        "which dogs are available?",
        "/animals?category=1",
        ("Available",),
        "3 animals found",
    ),
    Task("animals by name", "/animals", ("By name",), "8 animals"),
    Task(
        "where is the one with the accent?",
        "/animals",
        ({"Name or": " mohr "}, "Search"),
        "1 animal found",
    ),
    Task(
        "which animal has this number?",
        "/animals",
        ({"Name or": "{Luna}"}, "Search"),
        "1 animal found",
    ),
    Task(
        "there is no such animal",
        "/animals",
        ({"Name or": "zzz"}, "Search"),
        "No animal matches",
    ),
    Task("who has ordered Tom?", "/animals", ("Tom",), "Ms Lovelace, 555-0100"),
    Task(
        "who had ordered Bello?",
        "/animals",
        ("Bello", "Order"),
        "Mr Turing, 555-0199",
    ),
    Task("how many dogs?", "/categories", (), "5 animals"),
    Task(
        "a category gets another name",
        "/categories",
        ("Rename category 2", {"Name": "Kittens"}, "Save category 2"),
        "Kittens",
    ),
    Task(
        "a category keeps its name for itself",
        "/categories",
        ("Rename category 2", {"Name": "dogs"}, "Save category 2"),
        "The category 1 has this name already.",
    ),
    Task(
        "birds will arrive",
        "/categories",
        ("Add a category", {"Name": "Birds"}, "Add category"),
        "Birds is added",
    ),
    Task(
        "there are no fish",
        "/categories",
        ("Delete category 3", "Yes, delete it"),
        "is deleted",
    ),
    Task("what is to do today?", "", ("2 open orders",), "2 orders found"),
    Task("what came in last?", "", ("Bello",), "Take it back"),
)


@pytest.fixture
def ids() -> dict[str, int]:
    """The numbers of the animals by their names."""
    return {}


@pytest.fixture
def shelter(world: World, page: Page, key: str, ids: dict[str, int]) -> Page:
    """The dashboard of a shelter with dogs and cats, some of them ordered."""
    with Client(world.instances[0].url, key) as client:

        def send(method: str, path: str, **members: object) -> int:
            return client.send(method, path, members, Host=BASE).json["id"]

        for number, name in CATEGORIES.items():
            send("PUT", f"/v1/categories/{number}", name=name)
        for name, category in ANIMALS.items():
            status = "pending" if name == "Kim" else "available"
            members = {"name": name, "categoryId": category, "status": status}
            ids[name] = send("POST", PETS, **members)
        for name, reference in ORDERED.items():
            order = send("POST", ORDERS, petId=ids[name], reference=reference)
        send("PATCH", f"{ORDERS}/{order}", status="completed")
    sign_in(page, key)
    return page


def seen(found: Locator) -> Locator:
    return found.locator("visible=true").first


def button(page: Page, title: str) -> Locator:
    """Return the link, the button or the question that begins with these words."""
    words = r"\s+".join(map(re.escape, title.split()))
    begins = re.compile(rf"^\s*{words}(\W|$)")
    return seen(page.locator("main :is(a, button, summary)").filter(has_text=begins))


def field(page: Page, label: str) -> Locator:
    return seen(page.locator("main").get_by_label(re.compile(rf"^{label}\b")))


def choose_file(target: Locator, text: str) -> None:
    file = {"name": "x.csv", "mimeType": "text/csv", "buffer": text.encode()}
    target.set_input_files(file)


def by_mouse(page: Page, target: Locator, text: str | None) -> None:
    if text is None:
        target.click()
    elif target.get_attribute("type") == "file":
        choose_file(target, text)
    elif target.evaluate("each => each.tagName") == "SELECT":
        target.select_option(text)
    else:
        target.fill(text)


def by_keyboard(page: Page, target: Locator, text: str | None) -> None:
    target.wait_for()
    while not target.evaluate("each => each === document.activeElement"):
        page.keyboard.press("Tab")
    if text is None:
        page.keyboard.press("Enter")
    elif target.get_attribute("type") == "file":
        choose_file(target, text)
    elif target.evaluate("each => each.tagName") == "SELECT":
        page.keyboard.type(text)
    else:
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.type(text)


@pytest.mark.parametrize(("act", "width"), [(by_mouse, 390), (by_keyboard, 1280)])
@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_a_worker_needs_no_program(
    shelter: Page,
    ids: dict[str, int],
    task: Task,
    act: Callable[[Page, Locator, str | None], None],
    width: int,
):
    assert len(task.steps) <= MOST_STEPS
    shelter.set_viewport_size({"width": width, "height": 900})
    shelter.goto(f"{DASHBOARD}{task.path}")
    for step in task.steps:
        if isinstance(step, str):
            act(shelter, button(shelter, step), None)
            continue
        for label, text in step.items():
            act(shelter, field(shelter, label), text.format(**ids))
    expect(seen(shelter.locator("main").get_by_text(task.seen))).to_be_visible()


def test_ten_animals_in_a_row_take_their_names_and_one_key_each(shelter: Page):
    shelter.goto(f"{DASHBOARD}/animals")
    button(shelter, ADD).click()
    field(shelter, "Category").fill("Dogs")
    field(shelter, "Name").fill("Pup 0")
    shelter.keyboard.press("Enter")
    for number in range(1, 10):
        expect(shelter.get_by_text(f"Pup {number - 1} is added")).to_be_visible()
        expect(shelter.get_by_label("Name", exact=True)).to_be_focused()
        shelter.keyboard.type(f"Pup {number}")
        shelter.keyboard.press("Enter")
    expect(shelter.get_by_text("Pup 9 is added")).to_be_visible()


def test_two_tabs_do_not_undo_each_other(shelter: Page, ids: dict[str, int]):
    tabs = (shelter, shelter.context.new_page())
    for tab in tabs:
        tab.goto(f"{DASHBOARD}/animals/{ids['Rex']}")
    field(tabs[0], "Name").fill("Max")
    field(tabs[1], "Category").fill("Cats")
    for tab in tabs:
        button(tab, "Save").click()
        expect(tab.get_by_text("Max is saved")).to_be_visible()
    expect(tabs[1].get_by_role("link", name="Cats")).to_be_visible()
