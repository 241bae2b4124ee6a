"""The documentation matches the code, and the models match the tables."""

import ast
import inspect
import re
from collections.abc import Callable
from importlib import import_module

import pytest
from flask import Flask
from limits import parse_many

from petstore.errors import ERRORS
from petstore.models.activity import Event
from petstore.models.plans import PLANS
from petstore.settings import Settings, read_settings, variables
from petstore.storage import BaseModel, CounterModel, counters, db
from tests.harness import databases
from tests.harness.documents import code_in, commands_of, rows_of
from tests.harness.servers import ROOT
from tests.harness.stage import opened

# They drop what only the release before this one uses, as the next one will do.
OF_RELEASE_BEFORE = (
    "DROP INDEX pet_outdated",
    "DROP INDEX pet_order_outdated",
    "ALTER TABLE api_key DROP COLUMN is_public",
)


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_models_match_migrated_tables(engine: str, new_database: Callable[[str], str]):
    for path in ROOT.glob("petstore/**/*.py"):
        if "Model):" in path.read_text() and "migrations" not in path.parts:
            parts = path.relative_to(ROOT).with_suffix("").parts
            import_module(".".join(parts))
    Event.project.deferred = False  # else Peewee would add it later, by ALTER TABLE
    of_models, of_migrations = set(), set()
    with opened({"DATABASE_URL": new_database(engine)}):
        for statement in OF_RELEASE_BEFORE:
            db.execute_sql(statement)
        for database, base in ((db, BaseModel), (counters, CounterModel)):
            models = base.__subclasses__()
            migrated = databases.shape_of(database)
            database.drop_tables(models)
            database.create_tables(models)
            assert migrated == databases.shape_of(database)
            of_models |= {model._meta.table_name for model in models}
            of_migrations |= migrated.keys()
    assert of_models == of_migrations


def test_each_error_code_is_documented_with_its_status():
    rows = rows_of("api.md", "Errors")
    told = {(int(row[0]), code) for row in rows for code in code_in(row[1])}
    assert told == {(error.status, code) for code, error in ERRORS.items()}


def test_table_of_settings_is_made_from_their_description():
    source = ast.parse(inspect.getsource(Settings))
    meanings = [
        " ".join(node.value.value.split())
        for node in source.body[0].body[1:]
        if isinstance(node, ast.Expr)
    ]
    names = [f"`{name}`" for name in variables()]
    rows = rows_of("operating.md", "Settings")
    assert [(row[0], row[2]) for row in rows] == list(zip(names, meanings, strict=True))


# Defaults that follow the processors, and the extensions that are there.
FOLLOWING = ("`WEB_CONCURRENCY`", "`PETSTORE_EXTENSIONS`")


def test_each_fixed_default_is_documented():
    for name, default, _ in rows_of("operating.md", "Settings"):
        value = getattr(read_settings({}), variables()[name.strip("`")])
        if value and name not in FOLLOWING:
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            assert default == f"`{text}`"


def test_only_described_settings_are_read():
    asked = []

    class Environment(dict):
        def get(self, name: str, default: str | None = None) -> str | None:
            asked.append(name)
            return default

    read_settings(Environment())
    assert asked == list(variables())


def test_each_command_is_documented_with_its_arguments_and_options(app: Flask):
    told = []
    for [usage, *_] in rows_of("operating.md", "Commands"):
        [line] = code_in(usage)
        options = sorted(re.findall("--[a-z-]+", line))
        told.append(" ".join([line.split(" [")[0], *options]))
    found = []
    for name, command in commands_of(app.cli):
        given = [p for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p not in given]
        options = [name for p in options for name in p.opts[:1] + p.secondary_opts]
        names = [p.name.upper() for p in given if p.required]
        found.append(" ".join(["flask", name, *names, *sorted(options)]))
    assert sorted(told) == sorted(found)


def test_each_operation_is_documented(app: Flask):
    rows = rows_of("api.md", "Operations")
    told = {tuple(code_in(row[0])[0].split()) for row in rows}
    served = {
        (method, re.sub("<id:([a-z]+)_id>", r"{\1Id}", rule.rule))
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.rule.startswith("/v1/")
    }
    assert told == served


def test_each_plan_is_documented_with_its_limits():
    told = {
        code_in(plan)[0]: (f"{minute}/minute;{day}/day".replace(",", ""), rows)
        for plan, minute, day, rows in rows_of("api.md", "Limits")
    }
    assert list(told) == list(PLANS)
    for plan, terms in PLANS.items():
        limits, rows = told[plan]
        assert rows == (f"{terms.rows:,}" if terms.rows else "its own")
        if terms.quota:
            assert parse_many(limits) == [*terms.quota]
        else:
            assert limits == "its own/minute;its own/day"


def test_every_code_is_raised():
    files = set((ROOT / "petstore").rglob("*.py")) - {ROOT / "petstore" / "errors.py"}
    source = "".join(file.read_text() for file in files)
    assert [code for code in ERRORS if f'"{code}"' not in source] == []
