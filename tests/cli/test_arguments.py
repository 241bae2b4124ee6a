"""Wrong arguments, help and output of all commands, also from a shell."""

import os
from collections.abc import Callable

import pytest

from tests import servers
from tests.cli.outputs import refusal

WRONG = [
    (("bogus",), "No such command 'bogus'."),
    (("migrate", "extra"), "Got unexpected extra argument (extra)"),
    (("migrate", "--bogus"), "No such option '--bogus'."),
    (("projects",), "Missing command."),
    (("projects", "bogus"), "No such command 'bogus'."),
    (("projects", "--bogus"), "No such option '--bogus'."),
    (("projects", "create"), "Missing argument 'NAME'."),
    (("projects", "create", "a", "b"), "Got unexpected extra argument (b)"),
    (("projects", "create", "a", "--slug"), "Option '--slug' requires an argument."),
    (("projects", "list", "extra"), "Got unexpected extra argument (extra)"),
    (("keys",), "Missing command."),
    (("keys", "a\nb"), r"No such command 'a\nb'."),
    (("keys", "create", "extra"), "Got unexpected extra argument (extra)"),
    (("keys", "create", "two\nlines"), "Got unexpected extra argument (two lines)"),
    (("keys", "list", "-x"), "No such option '-x'."),
    (("keys", "rotate"), "Missing argument 'PREFIX'."),
    (("keys", "rotate", "x", "--grace"), "Option '--grace' requires an argument."),
    (("keys", "revoke", "x", "y"), "Got unexpected extra argument (y)"),
    (("keys", "unban"), "Missing argument 'PREFIX'."),
    (("data",), "Missing command."),
    (("data", "backup"), "Missing argument 'FILE'."),
    (("data", "backup", "a", "b"), "Got unexpected extra argument (b)"),
    (("data", "copy"), "Missing argument 'DATABASE_URL'."),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_parser_errors_are_one_line(flask: Callable, arguments: tuple, message: str):
    assert refusal(flask(*arguments)) == message


@pytest.mark.parametrize(
    "arguments",
    [
        ("projects", "create", "\udcff"),
        ("projects", "change", "\udcff", "--plan", "pro"),
        ("keys", "create", "--project", "\udcff"),
        ("keys", "create", "--label", "\udcff"),
        ("keys", "revoke", "\udcff"),
    ],
)
def test_arguments_that_are_not_utf_8_are_refused(flask: Callable, arguments: tuple):
    assert refusal(flask(*arguments)) == r"The argument '\udcff' is not UTF-8."


@pytest.mark.parametrize(("arguments", "message"), [WRONG[6], WRONG[11]])
def test_parser_errors_are_one_line_in_a_shell(
    sqlite_url: str, arguments: tuple[str, ...], message: str
):
    ended = servers.flask({"DATABASE_URL": sqlite_url}, *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"Error: {message}\n"


def test_non_utf_8_byte_from_a_shell_gives_a_one_line_error(sqlite_url: str):
    stray = os.fsdecode(b"\xff")
    ended = servers.flask({"DATABASE_URL": sqlite_url}, "keys", "revoke", stray)
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1


def test_stdout_holds_only_the_slug_or_the_key(database_url: str):
    environ = {"DATABASE_URL": database_url}
    slug = servers.flask(environ, "projects", "create", "Shelter")
    key = servers.flask(environ, "keys", "create", "--project", slug.stdout.strip())
    assert slug.stdout == "shelter\n"
    assert key.stdout.startswith("pet_")
    assert key.stdout.count("\n") == 1
    assert key.stdout.strip() not in key.stderr


@pytest.mark.parametrize("command", [(), ("projects",), ("keys", "create")])
def test_help_exits_with_0(flask: Callable, command: tuple):
    result = flask(*command, "--help")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Usage: ")
