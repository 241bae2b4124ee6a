"""Tests for the removal of old counters on the first request of a day."""

import functools
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from petstore.clock import MS_PER_DAY
from petstore.quotas.stores.database import Usage
from petstore.storage.database import counters, db
from tests.harness.clocks import START_MS

THREADS = 4
SUBJECTS = 240
OLD_ROWS = 1000
TODAY = START_MS // MS_PER_DAY


@pytest.fixture
def old_rows(app: Flask) -> None:
    """Counters of many subjects from the day before yesterday."""
    row = {"served": 1, "refused": 0, "minute": 0, "minute_served": 1, "hit_ms": 0}
    row |= {"day": TODAY - 2, "last_day": TODAY - 1, "is_granted": True}
    with counters.atomic():
        for start in range(0, OLD_ROWS, 100):
            rows = [row | {"subject": f"{start + n}"} for n in range(100)]
            Usage.insert_many(rows).execute()


def test_concurrent_cleanup_loses_no_counter(
    app: Flask, old_rows: None, capfd: pytest.CaptureFixture
):
    with ThreadPoolExecutor(THREADS) as pool:
        shares = [range(n, SUBJECTS, THREADS) for n in range(THREADS)]
        statuses = pool.map(functools.partial(begin, app), shares)
    assert {status for share in statuses for status in share} == {401}
    assert "counters_lost" not in capfd.readouterr().out
    assert Usage.select().where(Usage.day == TODAY).count() == SUBJECTS
    left = Usage.select().where(Usage.day < TODAY).count()
    assert left <= OLD_ROWS - SUBJECTS


def begin(app: Flask, numbers: range) -> list[int]:
    """Send one request from each address and return the statuses."""
    client = app.test_client()
    addresses = [{"REMOTE_ADDR": f"192.0.2.{number}"} for number in numbers]
    answers = [client.get("/v1/pets", environ_base=a) for a in addresses]
    counters.disconnect()
    db.disconnect()
    return [answer.status_code for answer in answers]
