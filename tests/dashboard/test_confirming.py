"""A key confirms what would shut a project out, or turn its clients away."""

from collections.abc import Callable

import pytest
from flask import Flask

from petstore.models.credentials import new_key
from petstore.models.domains import Domain
from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.sessions import IDLE_MS
from tests.harness.browser import SIGN_IN, Browser, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

KEYS = "/dashboard/keys"
FAULT = "Enter a full key of this project that works."
OPEN = '<details class="question" open>'
FAILURES_A_MINUTE = 10

Form = tuple[str, str]  # its address, and its page


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    return environ | host_settings


@pytest.fixture(params=["the last full key", "a domain"])
def form(request: pytest.FixtureRequest, key: str, shop: Domain) -> Form:
    """A form that asks for a key."""
    page = f"/dashboard/settings/domains/{shop.id}"
    if request.param == "a domain":
        return f"{page}/remove", page
    return f"{KEYS}/{key[:16]}/revoke", f"{KEYS}/{key[:16]}"


@pytest.fixture
def is_undone(key: str, shop: Domain, project: Project) -> Callable[[], bool]:
    """A function that says whether key and domain are as they were."""
    return lambda: (
        Key.by_prefix(key[:16]).state == "active"
        and [domain.name for domain in Domain.all_by_name(project)] == [shop.name]
    )


@pytest.fixture
def wrong(request: pytest.FixtureRequest, project: Project, rival: Project) -> str:
    return {
        "none": "",
        "unknown": new_key(),
        "mistyped": "pet_x",
        "rival's": Key.issue(rival),
        "for a program": Key.issue(project, Grant("write")),
    }[request.param]


@of_both_engines
@pytest.mark.parametrize(
    "wrong",
    ["none", "unknown", "mistyped", "rival's", "for a program"],
    indirect=True,
)
def test_form_with_another_key_is_shown_again_and_does_nothing(
    browser: Browser, form: Form, wrong: str, is_undone: Callable[[], bool]
):
    path, _ = form
    answer = browser.submit(path, key=wrong)
    assert (answer.status_code, is_undone()) == (403, True)
    assert FAULT in words(answer)
    assert OPEN in answer.text
    assert not wrong or wrong not in answer.text


@of_both_engines
def test_form_with_a_full_key_of_the_project_does_it(
    browser: Browser, form: Form, key: str, is_undone: Callable[[], bool]
):
    path, page = form
    shown = browser.get(page).text
    assert 'name="key" type="password"' in shown
    assert OPEN not in shown
    assert browser.submit(path, key=f" {key} ").status_code == 303
    assert not is_undone()


def test_wrong_keys_are_counted_as_failed_sign_ins_and_refuse_no_right_one(
    browser: Browser, form: Form, key: str
):
    path, _ = form
    statuses = [
        browser.submit(path, key=new_key()).status_code
        for _ in range(FAILURES_A_MINUTE)
    ]
    assert statuses == [403] * FAILURES_A_MINUTE
    assert browser.sign_in(new_key()).status_code == 429
    assert browser.submit(path, key=new_key()).status_code == 429
    assert browser.submit(path, key="").status_code == 403
    assert browser.submit(path, key=key).status_code == 303


def test_wrong_key_is_logged_with_the_project_and_never_itself(
    browser: Browser, form: Form, project: Project, capfd: pytest.CaptureFixture[str]
):
    path, _ = form
    wrong = new_key()
    browser.submit(path, key=wrong)
    log = capfd.readouterr().out
    [line] = [line for line in log.splitlines() if "sign_in_failed" in line]
    assert f'"project":"{project.slug}"' in line
    assert wrong not in log


def test_key_of_a_form_whose_session_is_over_stays_out_of_the_address(
    browser: Browser, form: Form, key: str, clock: Clock
):
    path, page = form
    clock.move(seconds=IDLE_MS // 1000)
    answer = browser.submit(path, key=key, username=key[:16])
    assert (answer.status_code, answer.location) == (303, f"{SIGN_IN}?next={page}")
    assert key not in browser.get(answer.location).text


def test_full_key_beside_another_one_is_revoked_without_a_key(
    browser: Browser, project: Project, key: str
):
    page = f"{KEYS}/{Key.issue(project)[:16]}"
    assert 'type="password"' not in browser.get(page).text
    assert "is revoked" in browser.follow(f"{page}/revoke")
    assert 'type="password"' in browser.get(f"{KEYS}/{key[:16]}").text


@pytest.mark.parametrize("role", ["public", "read", "write"])
def test_key_that_is_not_full_is_revoked_without_a_key(
    browser: Browser, project: Project, role: str
):
    page = f"{KEYS}/{Key.issue(project, Grant(role, 10, 10))[:16]}"
    assert "is revoked" in browser.follow(f"{page}/revoke")


@of_both_engines
@pytest.mark.parametrize("ends", ["rotated", "revoked", "expired"])
def test_key_whose_only_company_ends_is_the_last(
    browser: Browser, project: Project, key: str, ends: str, clock: Clock
):
    expires_ms = clock.now_ms + 1000 if ends == "expired" else None
    other = Key.by_prefix(Key.issue(project, expires_ms=expires_ms)[:16])
    if ends == "rotated":
        Key.by_prefix(other.rotate(3600)[:16]).revoke()
    if ends == "revoked":
        other.revoke()
    clock.move(seconds=2)
    assert Key.by_prefix(key[:16]).is_last_full()
    page = f"{KEYS}/{key[:16]}"
    assert browser.submit(f"{page}/revoke").status_code == 403


def test_last_full_key_is_rotated_without_a_key(
    app: Flask, browser: Browser, key: str, project: Project
):
    path = f"{KEYS}/{key[:16]}/rotate"
    assert browser.submit(path, grace="0").status_code == 200
    assert len(Key.listed(project.id, "working")) == 1
