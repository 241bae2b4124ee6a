"""The campaigns in which the key of a web page is turned against its project."""

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import NamedTuple

import requests

from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.sessions import Session
from petstore.web.application import is_api_path
from tests.harness import servers
from tests.harness.campaign import Campaign, Run
from tests.harness.clients import PETS, Answer, Client
from tests.harness.load import load
from tests.harness.patience import PATIENT
from tests.harness.services import serving
from tests.harness.stage import database, opened
from tests.torture.tenants import SECRET, Victim

# Engine, and whether there is Redis; each with two hosts of two workers.
DEPLOYMENTS = {
    "sqlite": ("sqlite", False),
    "postgresql": ("postgresql", False),
    "redis": ("postgresql", True),
}
HOSTS, WORKERS, CLIENTS = 2, 2, 64
ORIGIN = "https://shelter.example"
OTHER_ORIGINS = (
    "https://evil.example",
    f"{ORIGIN}.evil.example",
    f"{ORIGIN}:8",
    "null",
)
# Limits that are soon used up, and some that never are.
TIGHT, AMPLE = (
    Grant(PUBLIC, *limits, (ORIGIN,)) for limits in ((10, 25), (10**6,) * 2)
)
READS = ("GET", "HEAD")
METHODS = (*READS, "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW")
UNKNOWN = ("/v1", "/v1/nothing", "/v1/pets/", "//v1/pets", "/V1/pets", "/dashboard/x")
SHOWN = ("/v1/pets", "/v1/categories")
COUNTED = (200, 403, 404, 429)
OPEN_PAGES = ("/dashboard/sign-in", "/dashboard/static")
BODIES = (
    {"name": "Mallory", "categoryId": 1},
    {"petId": 1},
    {"status": "completed"},
    {"name": None},
)
PAUSE_SECONDS = 0.02
KEY_WINDOWS = re.compile(r'"key-minute";r=\d+;t=(\d+), "key-day";r=(\d+);t=(\d+)')


class Attack(NamedTuple):
    """A request with one of the keys of web pages, or with a part of one."""

    method: str
    path: str
    body: object
    headers: dict[str, str]
    key: str  # as it was sent

    def fault(self, answer: Answer, keys: Iterable[str]) -> str | None:
        """Return what is wrong with the answer."""
        status, path = answer.status, self.path
        is_read = self.method in READS and self.key in keys
        is_read &= path.startswith(SHOWN)
        is_read &= self.headers.get("Origin", ORIGIN) == ORIGIN
        is_open = is_api_path(path) or path.startswith(OPEN_PAGES)
        if status is None or status >= 500:
            return f"{self.method} {path} was answered {status}"
        if answer.is_served and self.method not in READS:
            return f"{self.method} {path} has written"
        if answer.is_served and is_api_path(path) and not is_read:
            return f"{self.method} {path} was served from {self.headers}"
        if answer.is_served and path.startswith("/dashboard") and not is_open:
            return f"{path} was shown"
        if SECRET.encode() in answer.content and not is_read:
            return f"{self.method} {path} told something of the project"
        policy = answer.headers.get("RateLimit-Policy", "")
        if self.key in keys and status in COUNTED and '"minute"' in policy:
            return f"{self.method} {path} told the limits of the project"
        return None


def _play(run: Run, engine: str, has_redis: bool) -> None:
    with ExitStack() as stack:
        environ = {"DATABASE_URL": stack.enter_context(database(engine, run))}
        if has_redis:
            environ["REDIS_URL"] = stack.enter_context(servers.redis(run.directory))
        environ["WEB_CONCURRENCY"] = str(WORKERS)
        paths = _paths(environ)
        hosts = [
            stack.enter_context(serving(run.directory, environ, limits=PATIENT))
            for _ in range(HOSTS)
        ]
        stack.enter_context(opened(environ["DATABASE_URL"]))
        victim = Victim.create()
        keys = _issue(victim)
        before = victim.rows()
        _attack(run, [host.url for host in hosts], victim, keys, paths)
        run.require(victim.rows() == before, "rows of the project have changed")
        run.require(not Session.select().exists(), "somebody has signed in")
        for host in hosts:
            run.faults += host.gunicorn.tracebacks()


def _paths(environ: dict[str, str]) -> list[str]:
    """Return the paths of all routes, and some that nothing has."""
    routes = servers.flask(environ, "routes").stdout
    rules = set(re.findall(r" (/\S*)", routes))
    return [*sorted(re.sub("<[^>]+>", "1", rule) for rule in rules), *UNKNOWN]


def _issue(victim: Victim) -> dict[str, Grant]:
    """Return keys for web pages: two, and a successor of each, which all work."""
    keys = {}
    for grant in (TIGHT, AMPLE):
        key = Key.issue(Project.get_by_id(victim.project_id), grant)
        successor = Key.find(victim.project_id, key[:16]).rotate(86_400)
        keys |= {key: grant, successor: grant}
    return keys


def _attack(
    run: Run,
    urls: list[str],
    victim: Victim,
    keys: dict[str, Grant],
    paths: list[str],
) -> None:
    granted: list[tuple[str, int, int, int]] = []

    def go_on(number: int) -> None:
        dice = random.Random(f"{seed} {number}")
        with Client(urls[number % HOSTS], "") as client:
            for _ in range(share):
                attack = _choose(dice, victim, [*keys], paths)
                answer = client.send(*attack[:3], **attack.headers)
                run.faults += filter(None, [attack.fault(answer, keys)])
                found = KEY_WINDOWS.search(answer.headers.get("RateLimit", ""))
                if found and answer.status != 429:
                    granted.append((attack.key, *_windows(found)))
                if dice.random() < 0.05:  # on the same connection
                    bearer = f"Bearer {victim.key}"
                    own = client.get(PETS, Authorization=bearer, Origin="https://a.b")
                    run.require(own.status == 200, f"a full key got {own.status}")
        run.faults += _faults_of_sign_in(urls[number % HOSTS], dice.choice([*keys]))

    seed, share = run.dice.random(), -(-run.trials // CLIENTS)
    with ExitStack() as stack:
        readers = [
            stack.enter_context(load(url, [victim.key], pause_seconds=PAUSE_SECONDS))
            for url in urls
        ]
        pool = stack.enter_context(ThreadPoolExecutor(CLIENTS))
        list(pool.map(go_on, range(CLIENTS)))
    statuses = Counter(answer.status for each in readers for answer in each.answers)
    run.require(statuses.keys() == {200}, f"the project's other key got {statuses}")
    run.faults += _faults_of_limits(granted, keys)
    run.figures |= {"granted": len(granted), "served to others": statuses[200]}
    run.done = share * CLIENTS


def _choose(
    dice: random.Random, victim: Victim, keys: list[str], paths: list[str]
) -> Attack:
    key = dice.choice(keys)
    sent = dice.choice([key] * 8 + [key[:16] + victim.key[16:], f"{key}, {key}"])
    headers = {"Authorization": f"Bearer {sent}"}
    if dice.random() < 0.8:
        headers["Origin"] = dice.choice([ORIGIN, *OTHER_ORIGINS])
    if dice.random() < 0.2:
        headers["X-HTTP-Method-Override"] = "POST"
    if dice.random() < 0.2:
        headers["Idempotency-Key"] = "key-1"  # which the project has used
    method = dice.choice(METHODS)
    body = None if method in READS else dice.choice(BODIES)
    return Attack(method, dice.choice(paths), body, headers, sent)


def _windows(found: re.Match[str]) -> tuple[int, int, int]:
    """Return the minute and the day in which a request was counted, and what is left.

    The response may have taken some seconds.
    """
    now = time.time()
    minute, left, day = (int(text) for text in found.groups())
    return round((now + minute) / 60), round((now + day) / 86_400), left


def _faults_of_limits(
    granted: list[tuple[str, int, int, int]], keys: dict[str, Grant]
) -> list[str]:
    """Return where a key was granted more than it may, or a request counted twice."""
    minutes = Counter((key, minute) for key, minute, _, _ in granted)
    faults = [
        f"{count} granted in a minute"
        for (key, _), count in minutes.items()
        if count > (keys[key].per_minute or 0)
    ]
    left: dict[tuple[str, int], list[int]] = defaultdict(list)
    for key, _, day, rest in granted:
        left[key, day].append(rest)
    for (key, _), rests in left.items():
        most = keys[key].per_day or 0
        if sorted(rests) != list(range(most - len(rests), most)):
            faults.append(f"of {most} a day, granted with {sorted(rests)} left")
    return faults


def _faults_of_sign_in(url: str, key: str) -> list[str]:
    with requests.Session() as browser:
        page = f"{url}/dashboard/sign-in"
        answer = browser.post(page, data={"key": key}, allow_redirects=False)
    return [f"signed in: {answer.status_code}"] if answer.status_code < 400 else []


WEB_PAGE_KEYS = tuple(
    Campaign(
        f"keys of web pages: {name}",
        10_000,
        640,
        lambda run, it=deployment: _play(run, *it),
    )
    for name, deployment in DEPLOYMENTS.items()
)
