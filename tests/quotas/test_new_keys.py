"""A project issues 100 keys in a UTC hour on the dashboard."""

import pytest
from flask import Flask

from petstore.models.projects import Project
from petstore.quotas.limiter import NEW_KEYS, TooManyNewKeys
from petstore.web.application import limiter_of
from tests.harness.clocks import Clock
from tests.harness.limits import fill_up_hour
from tests.quotas.requests import on_one_store


@on_one_store
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
