"""The pages at / and /dashboard: what everybody, and what a shelter, meets first."""

from flask.testing import FlaskClient

from petstore.models.orders import Order
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser, add_pet, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines
from tests.harness.statements import recorded

HOME = "/dashboard"


def test_a_stranger_is_led_to_the_sign_in_and_the_reference(stranger: FlaskClient):
    with recorded() as statements:
        page = stranger.get("/")
    assert statements == []
    assert "Sign in for shelters API reference for developers" in words(page)
    for link in ("/dashboard", "/docs"):
        assert f'href="{link}"' in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    icon = stranger.get("/favicon.ico")
    assert icon.data[:4] == b"\0\0\1\0"


@of_both_engines
def test_empty_project_says_what_to_do(rival_client: FlaskClient, browser: Browser):
    rival_client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    page = browser.get(HOME)
    assert "Add your first animal Name" in words(page)
    assert '<details class="adding" open>' in page.text
    assert "curl http://localhost/v1/pets -H" in words(page)
    rex = {"name": "Rex", "categoryId": "Dogs"}
    assert "Added Rex (no. 2)." in browser.follow("/dashboard/animals", **rex)
    assert "curl" not in browser.read(HOME)


@of_both_engines
def test_the_shelter_comes_first(browser: Browser, project: Project, clock: Clock):
    [rex, _] = [add_pet(project, name) for name in ("Rex", "Tom")]
    assert "No animal is reserved at the moment." in browser.read(HOME)
    for number in range(9):
        clock.move(seconds=60)
        pet_id = rex if number == 8 else add_pet(project, f"Pup {number}.")
        Order.place(project.id, pet_id, "Ms Hopper")
    shown = browser.read(HOME)
    assert "Rex Ms Hopper 17 Mar 2027 12:09 UTC Adopted reservation 9" in shown
    assert "All 9 open reservations" in shown
    assert "1 Available 9 Reserved 0 Adopted Open reservations" in shown
    assert "Pup 7. Category 7 17 Mar 2027 12:08 UTC Reserved Pup 6." in shown
    assert "Tom" not in shown.partition("Added last")[2]


@of_both_engines
def test_whom_an_animal_without_an_order_is_for_is_said_there(
    browser: Browser, project: Project
):
    Order.place(project.id, add_pet(project, "Tom"))
    for number in range(9):
        add_pet(project, f"Pup {number}.", status="pending")
    shown = browser.read(HOME)
    assert "9 animals are marked as reserved, but nobody is named." in shown
    assert "Pup 8. Say for whom Pup 8. is reserved" in shown
    assert "All reserved animals" in shown
    order = {"reference": "Ms Hopper", "of": "pending"}
    path = "/dashboard/animals/10/order"
    said = browser.follow(path, **order)
    assert "Reserved Pup 8. (reservation 2)." in said
    assert "Reserved for Ms Hopper" in said
    assert "Pup 8. Say for whom" not in browser.read(HOME)
    assert "The animal 10 has the open reservation 2" in browser.follow(path, **order)


def test_nobody_has_reserved_an_animal_only_if_that_is_so(
    browser: Browser, project: Project
):
    add_pet(project, "Tom")
    assert "No animal is reserved at the moment." in browser.read(HOME)
    add_pet(project, "Rex", status="pending")
    shown = browser.read(HOME)
    assert "1 animal is marked as reserved, but nobody is named." in shown
    assert "No animal is reserved" not in shown


def test_a_reservation_is_closed_there(browser: Browser, project: Project):
    Order.place(project.id, add_pet(project, "Rex"))
    answer = browser.submit("/dashboard/orders/1/complete", on="home")
    assert answer.location == HOME
    assert "Rex is adopted (reservation 1)." in browser.read(HOME)


def test_four_fifths_are_told(browser: Browser, client: FlaskClient, project: Project):
    project.change_plan(Plan("enterprise", 9, 5))
    for told in ("", "nearly used up The project has used 4 of 5.", "used up The"):
        assert ("Today's requests are" in browser.read(HOME)) == bool(told)
        assert told in browser.read(HOME)
        for _ in range(4 if not told else 1):
            client.get("/v1/pets")
