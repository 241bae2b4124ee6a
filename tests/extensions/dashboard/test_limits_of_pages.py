"""Limits of pages, sign-ins and forms of a project, and a reserve for each key."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.extensions.dashboard import exclusively
from petstore.extensions.dashboard.limits import PAGES, RESERVE, SIGN_INS, count_sign_in
from petstore.extensions.sheets.models import Import
from petstore.extensions.sheets.uploads import LARGE_FILES
from petstore.models.callers import Caller
from petstore.models.categories import Category
from petstore.models.grants import WRITE, Grant
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.projects import Plan, Project
from petstore.web.limiter import limiter_of
from petstore.web.turns import turns_of
from tests.harness.browser import SIGN_IN, Browser, add_pet, shown_choices, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

OVERVIEW = "/dashboard"
KEYS = "/dashboard/keys"
LONG_TEMPLATE = 6_000  # characters, which take some 20 ms


def statuses(browser: Browser, times: int, page: str = OVERVIEW) -> list[int]:
    return [browser.get(page).status_code for _ in range(times)]


@pytest.fixture
def leaked(project: Project) -> str:
    """A key of the project that somebody else has, too."""
    return Key.issue(project, label="Leaked")


def test_limits_of_a_project_and_of_the_reserve_of_a_key():
    limits = [(each.per_minute, each.per_day) for each in (PAGES, SIGN_INS, RESERVE)]
    assert limits == [(120, 5_000), (60, 1_000), (20, 60)]


@of_both_engines
@pytest.mark.usefixtures("few_pages")
def test_page_beyond_the_limit_is_refused_for_a_while(browser: Browser, clock: Clock):
    page = "/dashboard/animals"
    assert browser.submit(page).status_code == 400  # a form counts as a page
    assert statuses(browser, 3) == [200, 200, 429]
    assert browser.submit(page).status_code == 429
    answer = browser.get(OVERVIEW)
    assert "too many pages (the page Keys still opens); wait 50 s." in words(answer)
    assert answer.headers["Retry-After"] == "50"
    clock.move(seconds=50)
    assert statuses(browser, 1) == [200]


@pytest.mark.usefixtures("few_pages")
def test_page_that_costs_more_than_is_left_says_how_long_to_wait(browser: Browser):
    answer = browser.get("/dashboard/animals.csv")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "50")


@pytest.mark.usefixtures("few_pages")
def test_page_that_is_refused_by_a_503_has_not_counted(
    app: Flask, project: Project, browser: Browser, set_limits: Callable[..., None]
):
    set_limits(waiting_requests=0)
    long, question = "/dashboard/animals?name=x", "/dashboard/animals/import/x"
    with exclusively(turns_of(app), project.id):
        for page in (long, OVERVIEW, question, "/dashboard/animals.csv"):
            assert browser.get(page).status_code == 503
        assert browser.submit(question).status_code == 503
    assert statuses(browser, 4, long) == [200, 200, 200, 429]


@pytest.mark.usefixtures("few_pages")
def test_project_shares_its_pages(app: Flask, key: str, leaked: str, rival: Project):
    browsers = [Browser(app, each) for each in (key, key, leaked, leaked)]
    assert [statuses(browser, 1) for browser in browsers] == [[200]] * 3 + [[429]]
    assert statuses(Browser(app, Key.issue(rival)), 1) == [200]
    answer = browsers[0].submit(f"{OVERVIEW}/sign-out")  # which needs none
    assert answer.location == SIGN_IN


@of_both_engines
@pytest.mark.usefixtures("few_pages")
def test_leaked_key_that_used_up_pages_is_revoked(app: Flask, key: str, leaked: str):
    thief = Browser(app, leaked)
    assert statuses(thief, 4)[-1] == 429
    granted = RESERVE.per_minute
    assert statuses(thief, granted + 1, KEYS) == [200] * granted + [429]
    owner, page = Browser(app, key), f"{KEYS}/{leaked[:16]}"
    refused = owner.get(OVERVIEW)
    assert (refused.status_code, f'href="{KEYS}"' in refused.text) == (429, True)
    assert leaked[:16] in owner.read(KEYS)
    assert "Revoked the key" in owner.follow(f"{page}/revoke")
    assert thief.get(KEYS).status_code == 303


@of_both_engines
def test_sign_ins_refuse_no_other(app: Flask, visitor: Browser, key: str, leaked: str):
    with app.app_context():
        for _ in range(SIGN_INS.per_minute + RESERVE.per_minute - 1):
            count_sign_in(Caller.find_by_key(leaked))
    assert visitor.sign_in(leaked).status_code == 303
    answer = visitor.sign_in(leaked)
    assert answer.status_code == 429
    assert "Too many people have signed in to your project" in words(answer)
    assert answer.headers["Retry-After"] == "50"
    assert visitor.sign_in(key).status_code == 303


def test_no_project_uses_up_what_another_may(
    app: Flask, project: Project, rival: Project
):
    ours, theirs = (Browser(app, Key.issue(each)) for each in (project, rival))
    assert 429 in statuses(ours, PAGES.per_minute + 1)
    assert statuses(theirs, 1) == [200]


ANIMALS = "/dashboard/animals"
CATEGORIES = "/dashboard/categories"
ORDERS = "/dashboard/orders"
PER_MINUTE = 5
# What no operation of the API does. Their pages are limited, and what they create.
OTHERS = ("/sign-in", "/sign-out", "/keys", "/sessions", "/settings/domains")
CHOOSE_FILE = f"{ANIMALS}/import"  # which leads to a question

REX = {"name": "Rex", "categoryId": "7"}
MANY = {"tick.what": "status.sold", "tick.4": "on"}
# What each form is sent with, by its rule; its path is that of a row that allows it.
FORMS: dict[str, tuple[str, dict[str, str]]] = {
    ANIMALS: (ANIMALS, REX),
    f"{ANIMALS}/<id:pet_id>": (f"{ANIMALS}/4", REX),
    f"{ANIMALS}/<id:pet_id>/order": (f"{ANIMALS}/4/order", {}),
    f"{ANIMALS}/<id:pet_id>/withdraw": (f"{ANIMALS}/5/withdraw", {}),
    f"{ANIMALS}/many": (f"{ANIMALS}/many", MANY),
    f"{ANIMALS}/many/change": (f"{ANIMALS}/many/change", MANY),
    f"{ANIMALS}/many/back": (f"{ANIMALS}/many/back", {"tick.was": "4.0.sold"}),
    f"{ANIMALS}/import/<file>": ("{question}", {}),
    f"{ANIMALS}/imports/<id:import_id>/take-back": ("{take_back}", {}),
    CATEGORIES: (CATEGORIES, {"name": "Kind"}),
    f"{CATEGORIES}/<id:category_id>": (f"{CATEGORIES}/7", {"name": "Cats"}),
    f"{CATEGORIES}/<id:category_id>/merge": (f"{CATEGORIES}/9/merge", {"into": "7"}),
    f"{CATEGORIES}/<id:category_id>/delete": (f"{CATEGORIES}/8/delete", {}),
    f"{ORDERS}/<id:order_id>": (f"{ORDERS}/1", {"reference": "Ada"}),
    f"{ORDERS}/<id:order_id>/complete": (f"{ORDERS}/1/complete", {}),
    f"{ORDERS}/<id:order_id>/cancel": (f"{ORDERS}/2/cancel", {}),
    f"{ORDERS}/<id:order_id>/reopen": (f"{ORDERS}/2/reopen", {}),
    f"{ORDERS}/<id:order_id>/delete": (f"{ORDERS}/3/delete", {}),
}


@pytest.fixture
def project(app: Flask) -> Project:
    """A project with five requests a minute, three orders and two more animals."""
    project = Project.add("Shelter", None, Plan("enterprise", PER_MINUTE, 1000))
    for name in ("Tim", "Tom", "Tum"):
        Order.place(project.id, add_pet(project, name))
    Order.change(project.id, 3, status="completed")
    for name in ("Tam", "Tem"):
        add_pet(project, name)
    for number in (8, 9):
        Category.ensure(project.id, number)
    return project


def left(client: FlaskClient) -> int:
    """Return how many requests of the minute are left, after this one."""
    return int(client.get("/v1/pets").headers["X-RateLimit-Remaining"])


@pytest.fixture
def use_up(app: Flask, project: Project, key: str) -> Callable[[], None]:
    """A function that uses up the forms of the minute."""

    def use_up() -> None:
        strategy, quota = limiter_of(app).strategy, Caller.find_by_key(key).quota
        while strategy.hit(quota.minute, f"{{project:{project.id}}}/forms"):
            pass

    return use_up


def test_each_form_is_a_request_or_does_what_no_operation_does(app: Flask):
    forms = {
        rule.rule
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/dashboard") and "POST" in rule.methods
    }
    others = {form for form in forms if form[len("/dashboard") :].startswith(OTHERS)}
    assert forms - others - {CHOOSE_FILE} == FORMS.keys()


@of_both_engines
def test_forms_have_a_quota_of_their_own(
    browser: Browser,
    client: FlaskClient,
    project: Project,
    use_up: Callable,
    clock: Clock,
):
    question = browser.upload("name,category\nRex,7\n").location
    record = Import.record(project.id, 1, [])
    take_back = f"{ANIMALS}/imports/{record.id}/take-back"
    for path, fields in FORMS.values():
        path = path.format(question=question, take_back=take_back)
        fields = fields | shown_choices(browser.get(path).text)
        use_up()
        answer = browser.submit(path, **fields)
        assert answer.status_code == 429
        assert "Enterprise allows 5 forms a minute; wait " in words(answer)
        assert left(client) == PER_MINUTE - 1  # no form is a request
        clock.move(seconds=int(answer.headers["Retry-After"]))
        assert browser.submit(path, **fields).status_code in (200, 303)
    while left(client):
        pass
    assert browser.submit(ANIMALS, **REX).status_code == 303  # nor a request a form
    assert "2 of 5 forms" in browser.read("/dashboard/usage")


def test_refused_form_is_shown_again(browser: Browser, use_up: Callable, clock: Clock):
    fields = {"name": "Ömer", "categoryId": "7", "idempotency_key": "x"}
    use_up()
    page = browser.submit(ANIMALS, **fields)
    assert "kept what you typed: Ömer Category 7 Send again" in words(page)
    sent = dict(re.findall('type="hidden" name="(.+)" value="(.+)"', page.text))
    clock.move(seconds=int(page.headers["Retry-After"]))
    for _ in range(2):
        assert "Added Ömer (no. 6)." in browser.follow(ANIMALS, **sent)
    use_up()
    headers = {"Sec-Fetch-Site": "cross-site"}
    page = browser.client.post(ANIMALS, data=fields, headers=headers)
    assert "Ömer" not in page.text


def test_forms_ban_nobody(browser: Browser, use_up: Callable, key: str, clock: Clock):
    use_up()
    for _ in range(30):
        clock.move(seconds=1)
        assert browser.submit(ANIMALS, **REX).status_code == 429
    assert Key.find_by_prefix(key[:16]).state == "active"
    clock.move(seconds=60)
    Key.ban(Key.find_by_prefix(key[:16]).id, clock.now_ms + 60_000)
    assert browser.submit(ANIMALS, **REX).status_code == 303


LARGE = "name,category\n" + "Rex,Dogs\n" * 8_000  # more than 64 KiB


@of_both_engines
def test_three_large_files_of_a_project_wait(app: Flask, key: str, rival: Project):
    browsers = [Browser(app, key) for _ in range(4)]
    questions = [browser.upload(LARGE).location for browser in browsers]
    assert questions[3] == CHOOSE_FILE  # with the reason
    assert "Three large files of your project wait" in browsers[3].read(CHOOSE_FILE)
    assert browsers[3].upload("name,category\nRex,Dogs\n").location != CHOOSE_FILE
    assert browsers[0].upload(LARGE).location != CHOOSE_FILE  # in place of its own
    assert Browser(app, Key.issue(rival)).upload(LARGE).location != CHOOSE_FILE
    browsers[1].submit("/dashboard/sign-out")
    assert browsers[3].upload(LARGE).location != CHOOSE_FILE


def test_a_project_sends_50_large_files_in_a_day(
    app: Flask, project: Project, key: str, browser: Browser, clock: Clock
):
    strategy, subject = limiter_of(app).strategy, f"long-forms:{project.id}"
    strategy.hit(LARGE_FILES, subject, cost=LARGE_FILES.amount)
    answer = browser.upload(LARGE)
    assert answer.status_code == 429
    assert "sent 50 files above 64 KiB today" in words(answer)
    assert browser.upload("name,category\nRex,Dogs\n").status_code == 303
    clock.move(seconds=int(answer.headers["Retry-After"]))
    assert Browser(app, key).upload(LARGE).status_code == 303


def test_no_page_waits_for_a_long_template_to_compile(app: Flask):
    pages = app.blueprints["dashboard"].jinja_loader
    compiled = {name for _, name in app.jinja_env.cache}
    for name in pages.list_templates():
        source, *_ = pages.get_source(app.jinja_env, name)
        assert name in compiled or len(source) < LONG_TEMPLATE, name


def test_forms_of_the_dashboard_are_counted_for_the_key_that_has_limits(
    app: Flask, project: Project, client_of: Callable
):
    key = Key.issue(project, Grant(WRITE, per_minute=2, per_day=4))
    browser, fields = Browser(app, key), {"name": "Rex", "categoryId": "Dogs"}
    forms = [browser.submit("/dashboard/animals", **fields) for _ in range(3)]
    assert [form.status_code for form in forms] == [303, 303, 429]
    assert "This key allows 2 requests a minute; wait 50 s." in words(forms[-1])
    answer = client_of(key).get("/v1/pets")
    assert '"key-minute";r=0' in answer.headers["RateLimit"]
