"""Helpers that send requests and read rate-limit headers."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore import clock as service_clock

PETS = "/v1/pets"
DAY_END_MS = service_clock.instant_ms(2027, 3, 18)

# For tests of what does not depend on the counter store.
on_one_store = pytest.mark.parametrize("store", ["sqlite"], indirect=True)


def send(client: FlaskClient, times: int = 1) -> list[int]:
    """Send requests one after another and return their statuses."""
    return [client.get(PETS).status_code for _ in range(times)]


def remaining(answer: TestResponse) -> tuple[int, int]:
    """Return the remaining requests of the minute and of the day."""
    minute, day = answer.headers["RateLimit"].split(", ")
    return _parameter(minute, "r"), _parameter(day, "r")


def retry_after(answer: TestResponse) -> int:
    """Return the Retry-After of a 429, in seconds."""
    assert answer.status_code == 429
    return int(answer.headers["Retry-After"])


def _parameter(item: str, name: str) -> int:
    parameters = dict(part.split("=") for part in item.split(";")[1:])
    return int(parameters[name])
