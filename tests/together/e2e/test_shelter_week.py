"""A shelter's week: each task takes at most four steps, by mouse or by keyboard.

A file of another system takes at most six.

What is exchanged with spreadsheets has its own file.
"""

import re
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests.harness.clients import ORDERS, PETS, Client
from tests.together.e2e.conftest import World
from tests.together.e2e.people import BASE, DASHBOARD, sign_in

MOST_STEPS = 4
CATEGORIES = {1: "Dogs", 2: "Cats", 3: "Fish"}
DOGS, CATS = ("Rex", "Rexx", "Luna", "Ada", "Bello"), ("Möhre", "Kim", "Tom")
ORDERED = {"Tom": "Ms Lovelace", "Ada": "Mr Babbage", "Bello": "Mr Turing, 555-0199"}


TASKS = yaml.safe_load(Path(__file__).with_name("shelter_week.yaml").read_text())


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
        for name in (*DOGS, *CATS):
            status = "pending" if name == "Kim" else "available"
            members = {"name": name, "categoryId": 1 + (name in CATS)}
            ids[name] = send("POST", PETS, **members, status=status)
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


def reach(page: Page, target: Locator) -> None:
    """Go to an element by the keyboard."""
    target.wait_for()
    while not target.evaluate("each => each === document.activeElement"):
        page.keyboard.press("Tab")


def fill(target: Locator, text: str) -> None:
    if target.get_attribute("type") == "file":
        file = {"name": "x.csv", "mimeType": "text/csv", "buffer": text.encode()}
        target.set_input_files(file)
    elif target.evaluate("each => each.tagName") == "SELECT":
        target.select_option(text)
    else:
        target.fill(text)


@pytest.mark.parametrize("number", range(len(TASKS)), ids=list(TASKS))
def test_a_worker_needs_no_program(shelter: Page, ids: dict[str, int], number: int):
    """Every other task is done by the keyboard alone, on a large screen."""
    task, has_mouse = [*TASKS.values()][number], number % 2
    assert len(task["steps"]) <= task.get("most_steps", MOST_STEPS)
    width = 390 if has_mouse else 1280
    shelter.set_viewport_size({"width": width, "height": 900})
    shelter.goto(f"{DASHBOARD}{task['path']}")
    for step in task["steps"]:
        if isinstance(step, str):
            target = button(shelter, step)
            if has_mouse:
                target.click()
            else:
                reach(shelter, target)
                shelter.keyboard.press("Enter")
            continue
        for label, text in step.items():
            target = field(shelter, label)
            if not has_mouse:
                reach(shelter, target)
            fill(target, text.format(**ids))
    found = shelter.locator("main").get_by_text(task["seen"])
    expect(seen(found)).to_be_visible()


def test_ten_animals_in_a_row_take_their_names_and_one_key_each(shelter: Page):
    shelter.goto(f"{DASHBOARD}/animals")
    button(shelter, "Add an animal").click()
    expect(field(shelter, "Name")).to_be_focused()
    field(shelter, "Category").select_option("Dogs")
    field(shelter, "Name").fill("Pup 0")
    shelter.keyboard.press("Enter")
    for number in range(1, 10):
        expect(shelter.get_by_text(f"Added Pup {number - 1}")).to_be_visible()
        expect(shelter.get_by_label("Name", exact=True)).to_be_focused()
        shelter.keyboard.type(f"Pup {number}")
        shelter.keyboard.press("Enter")
    expect(shelter.get_by_text("Added Pup 9")).to_be_visible()
