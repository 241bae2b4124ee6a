"""A key confirms what would shut a project out, or turn its clients away."""

import pytest

from petstore.extensions.dashboard.models import IDLE_MS
from petstore.extensions.hosting.models import Domain
from petstore.models.credentials import new_key
from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.browser import SIGN_IN, Browser, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

pytestmark = pytest.mark.usefixtures("hosts")
KEYS = "/dashboard/keys"
FAULT = "Enter a full key of this project that works."
OPEN = '<details class="question" name="closing" open>'
FAILURES_A_MINUTE = 10

Form = tuple[str, str]  # its address, and its page


@pytest.fixture(params=["the last full key", "a domain"])
def form(request: pytest.FixtureRequest, key: str, shop: Domain) -> Form:
    """A form that asks for a key."""
    page = f"/dashboard/settings/domains/{shop.id}"
    if request.param == "a domain":
        return f"{page}/remove", page
    return f"{KEYS}/{key[:16]}/revoke", f"{KEYS}/{key[:16]}"


def test_form_asks_for_a_full_key_of_the_project_and_does_nothing_before(
    browser: Browser, form: Form, key: str, project: Project, rival: Project
):
    path, page = form
    shown = browser.get(page).text
    assert 'name="key" type="password"' in shown
    assert OPEN not in shown
    of_program = Key.issue(project, Grant("write"))
    for wrong in ("", new_key(), "pet_-", Key.issue(rival), of_program):
        answer = browser.submit(path, key=wrong)
        assert answer.status_code == 403
        assert FAULT in words(answer)
        assert OPEN in answer.text
        assert not wrong or wrong not in answer.text
    assert Key.find_by_prefix(key[:16]).state == "active"
    assert len(Domain.all_by_name(project)) == 1
    assert browser.submit(path, key=f" {key} ").status_code == 303
    is_active = Key.find_by_prefix(key[:16]).state == "active"
    assert is_active == (not Domain.all_by_name(project))


def test_wrong_keys_are_counted_as_failed_sign_ins_and_refuse_no_right_one(
    browser: Browser, form: Form, key: str, capfd: pytest.CaptureFixture
):
    path, _ = form
    wrong = [new_key() for _ in range(FAILURES_A_MINUTE)]
    statuses = {browser.submit(path, key=each).status_code for each in wrong}
    assert statuses == {403}
    log = capfd.readouterr().out
    failed = [line for line in log.splitlines() if "sign_in_failed" in line]
    assert len(failed) == FAILURES_A_MINUTE
    assert '"project":"shelter"' in failed[0]
    assert wrong[0] not in log
    assert browser.sign_in(new_key()).status_code == 429
    assert browser.submit(path, key=new_key()).status_code == 429
    assert browser.submit(path, key="").status_code == 403
    assert browser.submit(path, key=key).status_code == 303


def test_key_stays_out_of_address(browser: Browser, form: Form, key: str, clock: Clock):
    path, page = form
    clock.move(seconds=IDLE_MS // 1000)
    answer = browser.submit(path, key=key, username=key[:16])
    assert (answer.status_code, answer.location) == (303, f"{SIGN_IN}?next={page}")
    assert key not in browser.get(answer.location).text


def test_others_are_revoked_without_a_key(browser: Browser, project: Project, key: str):
    for role in ("public", "read", "write", "full"):
        page = f"{KEYS}/{Key.issue(project, Grant(role, 10, 10))[:16]}"
        assert 'type="password"' not in browser.get(page).text
        assert "Revoked the key" in browser.follow(f"{page}/revoke")
    assert 'type="password"' in browser.get(f"{KEYS}/{key[:16]}").text


@of_both_engines
def test_last_key_is_found(browser: Browser, project: Project, key: str, clock: Clock):
    rotated, revoked = (Key.find_by_prefix(Key.issue(project)[:16]) for _ in range(2))
    Key.issue(project, expires_ms=clock.now_ms + 1000)
    Key.find_by_prefix(rotated.rotate(3600)[:16]).revoke()
    revoked.revoke()
    clock.move(seconds=2)
    assert browser.submit(f"{KEYS}/{key[:16]}/revoke").status_code == 403
    assert browser.submit(f"{KEYS}/{key[:16]}/rotate").status_code == 200
