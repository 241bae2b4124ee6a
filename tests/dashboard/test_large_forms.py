"""A form has at most 20 fields and 64 KiB, is UTF-8, and is not multipart."""

from flask import Flask

from petstore.web.application import FORM
from tests.harness.browser import SIGN_IN, Browser

KEYS = "/dashboard/keys"


def test_form_of_more_than_20_fields_is_refused(browser: Browser):
    fields = {f"field{number}": "x" for number in range(21)}
    answer = browser.submit(KEYS, **fields)
    assert answer.status_code == 400
    assert "at most 20 fields" in answer.text


def test_oversized_form_gets_a_413_page(browser: Browser):
    answer = browser.submit(KEYS, label="x" * 70_000)
    assert (answer.status_code, answer.mimetype) == (413, "text/html")


def test_form_that_is_not_utf_8_is_refused(browser: Browser):
    path = "/dashboard/animals"
    form = f"csrf_token={browser.token(path)}&name=%FF&categoryId=1&status=available"
    answer = browser.client.post(path, data=form, content_type=FORM)
    assert answer.status_code == 400
    assert "must be UTF-8" in answer.text


def test_multipart_form_is_not_read(app: Flask, key: str):
    browser = Browser(app)
    form = {"key": key, "csrf_token": browser.token(SIGN_IN)}
    kind = "multipart/form-data"
    assert browser.client.post(SIGN_IN, data=form, content_type=kind).status_code == 400
    assert browser.client.post(SIGN_IN, data=form).status_code == 303
