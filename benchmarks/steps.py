"""The steps of a request: functions whose calls are marked while callgrind counts.

What a function calls counts for it, but for the steps among it. What a mark itself
takes is counted and taken off.
"""

import functools
import importlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

# The functions of each step, where they are looked up.
STEPS = {
    "connection": ["petstore.server.connection:Connection._respond"],
    "read HTTP": [
        "petstore.server.request:RequestReader.read",
        "petstore.server.request:RequestReader.pop_environ",
    ],
    "write HTTP": [
        "petstore.server.connection:Response._head",
        "petstore.server.connection:Connection._send",
    ],
    "deadline, turn, proxies": ["petstore.web.application:Application.__call__"],
    "Flask: contexts": [
        "flask:Flask.request_context",
        "flask.ctx:RequestContext.push",
        "flask.ctx:RequestContext.pop",
    ],
    "Flask: route": ["flask.ctx:RequestContext.match_request"],
    "Flask: dispatch, hooks": [
        "flask:Flask.full_dispatch_request",
        "flask:Flask.preprocess_request",
        "flask:Flask.process_response",
    ],
    "headers of the response": [
        "petstore.web.application:JsonResponse.get_wsgi_response"
    ],
    "key": ["petstore.api:_identify"],
    "quota": ["petstore.api:_count"],
    "contract": ["petstore.api.contract:Operation._load_all"],
    "view": ["petstore.api.contract:Operation._carry_out"],
    "query": ["petstore.models.pets:Pet.get_own", "petstore.models.pets:Pet.page"],
    "dump": ["petstore.schemas:StrictSchema._serialize"],
    "log": ["petstore.web.request_log:_log"],
    "metrics, records": [
        "petstore.extensions.monitoring.requests:_count",
        "petstore.extensions.monitoring.requests:_record",
    ],
}
BETWEEN, FIRST, NOTHING = "worker", "connection", "nothing"
MARKS = "MARKS"  # the variable that names the file of marks
# The function of the system's library at which callgrind writes what it has counted.
MARKING = "getpgid"


def costs_of(steps: list[str], instructions: Iterable[int]) -> Counter[str]:
    """Return the instructions of each step, without those of the marks."""
    costs: Counter[str] = Counter()
    for step, number in zip(steps, instructions, strict=True):
        costs[step] += number
    times = Counter(steps)
    mark = costs[NOTHING] / times[NOTHING]
    return Counter({step: costs[step] - times[step] * mark for step in costs})


def mark_steps() -> None:
    """Mark the calls of all steps in this process."""
    for step, names in STEPS.items():
        for name in names:
            owner, attribute = place_of(name)
            setattr(owner, attribute, _marked(step, getattr(owner, attribute)))


def place_of(name: str) -> tuple[Any, str]:
    """Return the module or the class that has a function, and its attribute."""
    module, _, path = name.partition(":")
    *owners, attribute = path.split(".")
    owner = functools.reduce(getattr, owners, importlib.import_module(module))
    return owner, attribute


_running = [BETWEEN]


def _marked(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def marked(*arguments: Any, **options: Any) -> Any:
        _running.append(step)
        _mark(step)
        try:
            return function(*arguments, **options)
        finally:
            _running.pop()
            _mark(_running[-1])
            if step == FIRST:
                nothing()

    return marked


def _mark(step: str) -> None:
    """Note which step begins; callgrind writes what it has counted before."""
    os.write(_file(), f"{step}\n".encode())
    os.getpgid(0)


@functools.cache
def _file() -> int:
    return os.open(os.environ[MARKS], os.O_CREAT | os.O_WRONLY | os.O_APPEND)


nothing = _marked(NOTHING, lambda: None)
