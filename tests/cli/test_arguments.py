"""Wrong arguments, help and output of all commands, also from a shell."""

import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from petstore.cli.commands import COMMANDS
from petstore.models.projects import Project
from tests.cli.outputs import refusal, text_of
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


def test_help_exits_with_0(flask: Callable):
    for command in ((), ("projects",), ("keys", "create")):
        assert text_of(flask(*command, "--help")).startswith("Usage: ")


def test_help_lists_each_command_and_those_of_flask_know_the_application(
    sqlite_url: str,
):
    helped = servers.flask({"DATABASE_URL": sqlite_url}, "--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    listed = re.findall(r"^  (\w+)  ", helped.stdout, re.MULTILINE)
    assert set(listed) == {*COMMANDS, "run", "routes", "shell"}
    routes = servers.flask({"DATABASE_URL": sqlite_url}, "routes")
    assert "/v1/pets" in routes.stdout


@pytest.mark.parametrize(
    ("command", "needed"),
    [("migrate", "petstore.storage"), ("projects list", "petstore.models.projects")],
)
def test_command_imports_no_other_way_in_and_none_of_its_libraries(
    sqlite_url: str, command: str, needed: str
):
    program = [sys.executable, "-X", "importtime", "-m", "flask", *command.split()]
    environ = os.environ | {"DATABASE_URL": sqlite_url}
    listed = subprocess.run(program, check=True, env=environ, stderr=subprocess.PIPE)
    imported = set(re.findall(r"\| +(\S+)$", listed.stderr.decode(), re.MULTILINE))
    assert needed in imported
    ways_in = {"petstore.api", "petstore.dashboard", "petstore.openapi"}
    libraries = {"apispec", "dns", "marshmallow", "mistune", "prometheus_client"}
    assert not imported & (ways_in | libraries | {"petstore.monitoring", "redis"})


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
