"""Plays plans in processes of their own."""

import os
import pickle
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gevent import monkey

from tests.together.simulation.plan import Outcome, Plan, plan_of

if TYPE_CHECKING:
    from tests.together.simulation.stage import Template

MOST_SECONDS = 900  # of real time, before a run counts as stuck


class Isolated:
    """Plays each plan in a process of its own, as what it changes is never undone."""

    def __init__(self, template: "Template") -> None:
        self._template = template

    def play(self, plan: Plan) -> Outcome:
        """Play a plan."""
        return next(self.play_all([plan], 1))

    def play_all(self, plans: Iterable[Plan], processes: int) -> Iterator[Outcome]:
        """Play plans, so many at once; yield what becomes of each, in their order."""
        begun: deque[Callable[[], Outcome]] = deque()
        for plan in plans:
            begun.append(self._begin(plan))
            if len(begun) >= processes:
                yield begun.popleft()()
        for end in begun:
            yield end()

    def _begin(self, plan: Plan) -> Callable[[], Outcome]:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            self._play_in_child(plan, writing)
        os.close(writing)

        def end() -> Outcome:
            with open(reading, "rb") as pipe:
                outcome = pipe.read()
            os.waitpid(child, 0)
            if not outcome:
                return Outcome(plan, ["the process has died"], "", 0.0, 0, {})
            return pickle.loads(outcome)

        return end

    def _play_in_child(self, plan: Plan, writing: int) -> None:
        signal.alarm(MOST_SECONDS)
        try:
            with tempfile.TemporaryDirectory(dir=self._template.root) as name:
                self._template.root = Path(name)
                outcome = self._template.play(plan)
            with open(writing, "wb") as pipe:
                pickle.dump(outcome, pipe)
        except BaseException:  # noqa: BLE001 (nothing may return from the child)
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(0)


@contextmanager
def opened() -> Iterator[Isolated]:
    """Provide what plays plans; this process becomes one of gevent."""
    # As the worker does, before anything of the service is imported.
    monkey.patch_all(os=False, signal=False, subprocess=False)
    from tests.together.simulation.stage import Template

    memory = Path("/dev/shm")
    directory = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=directory) as name:
        yield Isolated(Template(Path(name)))


def first_fault(seeds: Iterable[int], rule: str) -> tuple[int | None, str]:
    """Return the first seed that breaks the rule, and how; else what else it breaks."""
    other = ""
    with opened() as stage:
        for seed in seeds:
            for fault in stage.play(plan_of(seed)).faults:
                if fault.startswith(rule):
                    return seed, fault
                other = other or f"seed {seed}: {fault}"
    return None, other
