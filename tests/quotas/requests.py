"""What the tests ask for, and what they read from the answers."""

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

PETS = "/v1/pets"


def ask(client: FlaskClient, times: int = 1) -> list[int]:
    """The status of so many requests, one after the other."""
    return [client.get(PETS).status_code for _ in range(times)]


def remaining(answer: TestResponse) -> tuple[int, int]:
    """What is left of the minute and of the day."""
    minute, day = answer.headers["RateLimit"].split(", ")
    return _parameter(minute, "r"), _parameter(day, "r")


def retry_after(answer: TestResponse) -> int:
    """The seconds that a refused client is told to wait."""
    assert answer.status_code == 429
    return int(answer.headers["Retry-After"])


def _parameter(item: str, name: str) -> int:
    parameters = dict(part.split("=") for part in item.split(";")[1:])
    return int(parameters[name])
