"""The state of a request: one object, whose attributes are declared."""

import ast
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

import petstore
from petstore.web.application import current_request
from petstore.web.state import RequestState
from tests.harness.calls import called_functions
from tests.harness.databases import of_one_engine

MODULES = sorted(Path(petstore.__file__).parent.rglob("*.py"))


@pytest.fixture
def state() -> RequestState:
    return RequestState("id", 0.0)


def test_nothing_is_kept_in_flasks_untyped_g():
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "flask":
                assert "g" not in [alias.name for alias in node.names], module


def test_views_do_not_write_the_state():
    for module in MODULES:
        for view in views(ast.parse(module.read_text())):
            written = {
                ast.unparse(node.value)
                for node in ast.walk(view)
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            }
            assert not any(name.endswith("state") for name in written), view.name


def views(tree: ast.AST) -> list[ast.FunctionDef]:
    """Return the functions that are decorated with a route."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [
        function
        for function in functions
        if any(ast.unparse(each).startswith("bp.") for each in function.decorator_list)
    ]


def test_undeclared_attribute_cannot_be_set(state: RequestState):
    with pytest.raises(AttributeError):
        state.colour = "red"


def test_caller_and_project_cannot_be_used_before_they_are_known(state: RequestState):
    assert state.caller is None
    with pytest.raises(LookupError):
        _ = state.required_caller
    with pytest.raises(AttributeError):
        _ = state.project


@of_one_engine
def test_each_request_has_a_state_of_its_own(app: Flask, client: FlaskClient):
    seen = []

    @app.after_request
    def keep(response):
        seen.append(current_request().state)
        return response

    client.get("/v1/pets")
    client.get("/v1/pets", headers={"Authorization": ""})
    first, second = seen
    assert first is not second
    assert first.headers is not second.headers
    assert (first.caller.slug, second.caller) == ("shelter", None)


@of_one_engine
@pytest.mark.parametrize("path", ["pets", "store/orders", "categories"])
def test_parameters_of_a_list_are_read_once(client: FlaskClient, path: str):
    with called_functions("schemas/loading.py") as called:
        assert client.get(f"/v1/{path}?limit=1").status_code == 200
    assert called.count("load") == 1
