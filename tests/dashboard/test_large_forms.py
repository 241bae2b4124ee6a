"""A form has at most 20 fields and 64 KiB, is UTF-8, and is multipart for members."""

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
    form = "name=%FF&categoryId=1&status=available"
    answer = browser.client.post(path, data=form, content_type=FORM)
    assert answer.status_code == 400
    assert "must be UTF-8" in answer.text


def test_multipart_form_of_a_stranger_is_not_read(visitor: Browser, key: str):
    form = {"data": {"key": key}, "content_type": "multipart/form-data"}
    assert visitor.client.post(SIGN_IN, **form).status_code == 401
    assert visitor.client.post(SIGN_IN, data={"key": key}).status_code == 303
