"""Wrong arguments, help and output of all commands, also from a shell."""

import os
import re
from collections.abc import Callable

from petstore.cli.commands import COMMANDS
from petstore.models.projects import Project
from tests.cli.outputs import refusal
from tests.harness import servers


def test_refusal_is_one_line(flask: Callable, project: Project):
    for arguments, message in (
        (("projcts",), "No such command 'projcts'. Did you mean 'projects'?"),
        (("migrate", "extra"), "Got unexpected extra argument (extra)"),
        (("migrate", "--bogus"), "No such option '--bogus'."),
        (("keys", "revok"), "No such command 'revok'. Did you mean 'revoke'?"),
        (("usage", "--day"), "No such option '--day'. Did you mean '--days'?"),
        (("usage", "--days", "32"), "Invalid value for '--days': 32 is not in the"),
        (("projects",), "Missing command."),
        (("projects", "create"), "Missing argument 'NAME'."),
        (("projects", "create", "x", "--slug"), "Option '--slug' requires an"),
        (("keys", "a\nb"), r"No such command 'a\nb'."),
        (("keys", "create", "two\nlines"), "Got unexpected extra argument (two lines)"),
        (("keys", "revoke", "\udcff"), r"'\udcff' cannot be encoded in utf-8."),
        (("data", "copy"), "Missing argument 'DATABASE_URL'."),
        *(
            ((*command, "--project", "x"), "There is no project 'x'.")
            for command in (
                ("activity",),
                ("requests",),
                ("usage",),
                ("domains", "list"),
            )
        ),
    ):
        assert refusal(flask(*arguments)).startswith(message)


def test_help_lists_each_command_beside_those_of_flask(sqlite_url: str):
    helped = servers.flask({"DATABASE_URL": sqlite_url}, "--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    listed = re.findall(r"^  (\w+)  ", helped.stdout, re.MULTILINE)
    assert set(listed) == {*COMMANDS, "run", "routes", "shell"}
    routes = servers.flask({"DATABASE_URL": sqlite_url}, "routes")
    assert "/v1/pets" in routes.stdout


def test_commands_behave_the_same_in_a_shell(sqlite_url: str):
    environ = {"DATABASE_URL": sqlite_url}
    slug = servers.flask(environ, "projects", "create", "Shelter")
    assert (slug.returncode, slug.stdout) == (0, "shelter\n")
    key = servers.flask(environ, "keys", "create")
    assert key.stdout.startswith("pet_")
    assert key.stdout.count("\n") == 1
    assert key.stdout.strip() not in key.stderr
    refused = servers.flask(environ, "keys", "revoke", os.fsdecode(b"\xff"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "Error: '\\udcff' cannot be encoded in utf-8.\n"
