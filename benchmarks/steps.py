"""Count the instructions of each step of a request, for benchmarks/cost.md.

    python -m benchmarks.steps

A step is a function. Its calls are marked while callgrind counts; what they call counts
for them, but for the steps among it. What a mark itself takes is counted and taken off.
"""

import functools
import importlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.counting import CALLGRIND, STEADY, profiles, send, tell, total
from benchmarks.load import print_heads, print_row
from benchmarks.requests import Crowd
from benchmarks.stage import GUNICORN, stage

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
    "quota": ["petstore.api:_count", "petstore.api:_quota_headers"],
    "contract": ["petstore.api.contract:Operation._load"],
    "view": ["petstore.api.contract:Operation._carry_out"],
    "query": ["petstore.models.pets:Pet.find", "petstore.models.pets:Pet.page"],
    "dump": ["petstore.schemas:StrictSchema._serialize"],
    "log": ["petstore.monitoring.requests:_log"],
    "metrics, notes": [
        "petstore.monitoring.metrics:count",
        "petstore.monitoring.requests:_note",
    ],
}
BETWEEN, FIRST, NOTHING = "worker", "connection", "nothing"
CASES = ("list", "get")
WARM_UP, COUNTED = 60, 10
MARKS = "MARKS"  # the variable that names the file of marks


def main() -> None:
    """Print a table."""
    with stage("sqlite") as place:
        crowd, marks = Crowd(place), place.directory / "marks"
        files = place.directory / "callgrind"
        below = (
            *CALLGRIND,
            "--dump-before=getpgid",
            f"--callgrind-out-file={files}.%p",
        )
        command = (*GUNICORN, "--config", "benchmarks/steady.py", "wsgi:app")
        costs = {}
        with place.running(command, below, STEADY | {MARKS: str(marks)}) as server:
            for case in CASES:
                send(server.port, crowd.requests(case, WARM_UP))
                before = len(profiles(files, server))
                marks.write_text("")
                tell(server, "instrumentation", "on")
                tell(server, "zero")
                send(server.port, crowd.requests(case, COUNTED))
                tell(server, "dump")
                tell(server, "instrumentation", "off")
                steps = [BETWEEN, *marks.read_text().splitlines()]
                found = profiles(files, server)[before:]
                costs[case] = _costs(steps, map(total, found))
    print_heads("Step", *CASES)
    for step in (BETWEEN, *STEPS):
        print_row(
            step, *(f"{costs[case][step] / COUNTED / 1000:.0f}" for case in CASES)
        )


def _costs(steps: list[str], instructions: Iterable[int]) -> Counter[str]:
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
    """Note which step begins; callgrind dumps before this function of the system."""
    os.write(_file(), f"{step}\n".encode())
    os.getpgid(0)


@functools.cache
def _file() -> int:
    return os.open(os.environ[MARKS], os.O_CREAT | os.O_WRONLY | os.O_APPEND)


nothing = _marked(NOTHING, lambda: None)


if __name__ == "__main__":
    main()
