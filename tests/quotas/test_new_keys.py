"""A project issues 100 keys in a UTC hour on the dashboard."""

import pytest
from flask import Flask

from petstore.models.projects import Project
from petstore.quotas.limiter import NEW_KEYS, TooManyNewKeys
from petstore.web.limits import limiter_of
from tests.harness.clocks import Clock
from tests.harness.crowds import at_once
from tests.harness.limits import fill_up_hour


def test_new_keys_are_limited_for_each_project_and_hour(
    app: Flask, project: Project, rival: Project, clock: Clock
):
    assert NEW_KEYS.amount == 100
    limiter = limiter_of(app)
    fill_up_hour(limiter, project, leave=0)
    clock.move(seconds=3589)  # to the last second of the hour
    with pytest.raises(TooManyNewKeys, match="100 keys in this hour"):
        limiter.count_new_key(project.id)
    limiter.count_new_key(rival.id)
    clock.move(seconds=1)
    limiter.count_new_key(project.id)


def test_new_keys_of_one_moment_stay_within_the_limit(app: Flask, project: Project):
    fill_up_hour(limiter_of(app), project, leave=3)
    granted = []

    def count(number: int) -> None:
        limiter_of(app).count_new_key(project.id)
        granted.append(number)

    with pytest.raises(TooManyNewKeys):
        at_once(count, range(8))
    assert len(granted) == 3
