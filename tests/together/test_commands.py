"""Commands of extensions refuse what the core's do, in one line."""

from collections.abc import Callable

import pytest

from tests.core.cli.outputs import refusal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("usage --days 32", "Invalid value for '--days': 32 is not in the"),
        ("data copy", "Missing argument 'DATABASE_URL'."),
        ("activity --project x", "There is no project 'x'."),
        ("requests --project x", "There is no project 'x'."),
        ("usage --project x", "There is no project 'x'."),
        ("domains list --project x", "There is no project 'x'."),
    ],
)
def test_refusal_is_one_line(flask: Callable, arguments: str, message: str):
    assert refusal(flask(*arguments.split())).startswith(message)


def test_group_without_a_command_shows_its_help(flask: Callable):
    for group in ("animals", "data", "domains"):
        assert f" {group} [OPTIONS] COMMAND" in flask(group).output
