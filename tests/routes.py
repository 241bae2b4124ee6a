"""Routes that are compiled once for all apps of a test run.

Each test has an app of its own, with the same routes. Compiling them again each time
would make the tests a tenth slower.
"""

from collections.abc import Callable
from typing import Any

from werkzeug.routing import Rule


def compile_once() -> None:
    """Reuse what Werkzeug compiles from a rule to build URLs."""
    compiled: dict[tuple[str, bool], Callable[..., Any]] = {}
    compile_builder = Rule._compile_builder

    def look_up(rule: Rule, append_unknown: bool = True) -> Callable[..., Any]:
        if rule.defaults or rule.subdomain:
            return compile_builder(rule, append_unknown)
        key = (rule.rule, append_unknown)
        if key not in compiled:
            compiled[key] = compile_builder(rule, append_unknown)
        return compiled[key]

    Rule._compile_builder = look_up
