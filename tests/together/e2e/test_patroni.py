"""PostgreSQL on three hosts fails over while clients write.

One service names the three hosts, and another one is behind HAProxy.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import pytest

from petstore.timeouts import Limits
from tests.harness import servers
from tests.harness.clients import PETS, Answer
from tests.harness.crowds import send_at_once
from tests.harness.load import Load, countdown, load
from tests.harness.proxies import Proxy, proxy
from tests.harness.services import AMPLE, Service, issue_key, serving
from tests.harness.waiting import wait_until
from tests.together.e2e.patroni import Host, primary_of, three_hosts, url_of

CLIENTS = 3
WRITES = 20
CUT_SECONDS = 4.0
PORT = 5432


class Stage(NamedTuple):
    """The hosts, the ways of the first service to them, and both services."""

    hosts: list[Host]
    ways: dict[str, Proxy]
    services: list[Service]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    directory = tmp_path_factory.mktemp("patroni")
    with three_hosts() as hosts, ExitStack() as stack:
        primary = primary_of(hosts)
        hosts.sort(key=lambda host: host is primary)  # it is the last to be tried
        names = [host.address for host in hosts]
        ways = {name: stack.enter_context(proxy(PORT, name)) for name in names}
        several = [f"127.0.0.1:{way.port}" for way in ways.values()]
        behind = [stack.enter_context(hosts[0].haproxy())]
        services = []
        for places in (several, behind):
            environ = {"DATABASE_URL": url_of(places), "WEB_CONCURRENCY": "1"}
            servers.flask(environ, "migrate").check_returncode()
            # With the limits that it has elsewhere, since their times are measured.
            service = serving(directory, environ, limits=Limits())
            services.append(stack.enter_context(service))
        yield Stage(hosts, ways, services)


def switch_over(_: Stage, primary: Host) -> None:
    primary.control("switchover", "--force")
    wait_until(lambda: not primary.is_("primary"), "it still writes")


def cut_network(stage: Stage, primary: Host) -> None:
    way = stage.ways[primary.address]
    way.passes.clear()
    time.sleep(CUT_SECONDS)
    way.restore()


def kill(_: Stage, primary: Host) -> None:
    primary.kill()


@pytest.mark.parametrize(
    ("fault", "most_seconds"), [(switch_over, 15), (cut_network, 10), (kill, 45)]
)
def test_nothing_is_lost_or_doubled_and_limits_are_exact(
    stage: Stage, fault: Callable[[Stage, Host], None], most_seconds: float
):
    primary, loads = primary_of(stage.hosts), []
    services = [
        replace(each, key=issue_key(each.gunicorn.environ)) for each in stage.services
    ]
    with ExitStack() as stack:
        for each in services:
            clients = load(each.url, [each.key] * CLIENTS, adds=True)
            loads.append(stack.enter_context(clients))
        wait_until_they_write(loads)
        fault(stage, primary)
        wait_until_they_write(loads)
    for service, done in zip(services, loads, strict=True):
        assert refused_seconds(done) < most_seconds
        assert_each_request_counts(service, done)
        assert_it_is_all_there(service, done)


def wait_until_they_write(loads: list[Load]) -> None:
    """Wait until each load has written some more."""
    goals = [(each, len(each.added) + WRITES) for each in loads]
    wait_until(lambda: all(len(each.added) >= goal for each, goal in goals))


def refused_seconds(done: Load) -> float:
    """Return the longest time between two writes that were acknowledged."""
    times = sorted(each.received_at for each in done.answers if each.status == 201)
    return max(later - earlier for earlier, later in pairwise(times))


def assert_it_is_all_there(service: Service, done: Load) -> None:
    with service.client() as client:
        names = [pet["name"] for pet in client.all_of(PETS)]
    assert len(set(names)) == len(names)
    assert set(done.added) <= set(names)
    assert len(names) <= len(done.added) + CLIENTS  # whose last write was not answered


def assert_each_request_counts(service: Service, done: Load) -> None:
    def burst() -> list[Answer]:
        return send_at_once([service.url] * CLIENTS, service.key)

    def is_served() -> bool:  # one may be refused, on a connection that has been lost
        done.answers.extend(answers := burst())
        return all(each.is_served for each in answers)

    wait_until(is_served)
    left = [each.day_left for each in burst()]
    before = max(left) + 1
    assert sorted([before, *left], reverse=True) == countdown([before, *left])
    answered = [each for each in done.answers if each.status not in (None, 503)]
    assert len(answered) <= AMPLE.per_day - before <= len(done.answers)
