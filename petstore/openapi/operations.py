"""Operations of the interface description, generated from contracts."""

import inspect
import re
from typing import Any

from flask import Flask
from marshmallow import Schema
from werkzeug.routing import Rule

from petstore.docs.components import list_of
from petstore.docs.headers import IDEMPOTENCY_KEY, references
from petstore.routing import API_PREFIX
from petstore.schemas.fields import INT64_MAX
from petstore.schemas.paging import PageQuery

TAGS = {"pets": ["Pets", "animals"], "orders": ["Store"], "categories": ["Store"]}
ON_EVERY_OPERATION = (400, 401, 421, 429, 500, 503)
WITH_BODY = (413, 415)
WITH_IDEMPOTENCY_KEY = (409, 422)
JSON = "application/json"


def operations(app: Flask) -> dict[str, dict[str, Any]]:
    """Return every operation by its path below /v1 and its method."""
    paths: dict[str, dict[str, Any]] = {}
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        if hasattr(view, "contract"):
            [method] = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            path = paths.setdefault(_path(rule), {})
            path[method.lower()] = _operation(rule, method, view)
    return paths


def _path(rule: Rule) -> str:
    path = re.sub(r"<id:(\w+)>", lambda name: f"{{{_camel(name[1])}}}", rule.rule)
    return path.removeprefix(API_PREFIX)


def _operation(rule: Rule, method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    description = inspect.getdoc(view) or ""
    operation: dict[str, Any] = {
        "operationId": _camel(view.__name__),
        "summary": description.partition("\n")[0].rstrip("."),
        "description": description,
        "tags": TAGS[rule.endpoint.partition(".")[0]],
        "parameters": [
            *map(_path_parameter, sorted(rule.arguments)),
            {"in": "query", "schema": type(contract.query)},
        ],
        "responses": _responses(rule, method, view),
    }
    if contract.body:
        content = {"schema": type(contract.body), "example": _example(contract.body)}
        operation["requestBody"] = {"required": True, "content": {JSON: content}}
    if method == "POST":
        operation["parameters"].append(IDEMPOTENCY_KEY)
    if hasattr(view, "deprecation"):
        operation["deprecated"] = True
        operation["x-sunset"] = view.deprecation["Sunset"]
    return operation


def _path_parameter(name: str) -> dict[str, Any]:
    schema = {"type": "integer", "format": "int64", "minimum": 0, "maximum": INT64_MAX}
    return {
        "name": _camel(name),
        "in": "path",
        "required": True,
        "description": "The id.",
        "schema": schema,
        "example": 42,
    }


def _responses(rule: Rule, method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    statuses = set(ON_EVERY_OPERATION) | {
        failure.status for failure in contract.failures
    }
    if rule.arguments:
        statuses.add(404)
    if contract.body:
        statuses |= set(WITH_BODY)
    if method == "POST":
        statuses |= set(WITH_IDEMPOTENCY_KEY)
    if hasattr(view, "deprecation"):
        statuses.add(410)
    failures = {str(status): f"Failure{status}" for status in sorted(statuses)}
    successes = {str(status): _success(method, view) for status in contract.statuses}
    return successes | failures


def _success(method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    headers = ["Location", "Idempotent-Replayed"] if method == "POST" else []
    if isinstance(contract.query, PageQuery):
        headers.append("Link")
    headers += getattr(view, "deprecation", {})
    schema: Any = type(contract.returns)
    example: Any = _example(contract.returns)
    if contract.returns.many:
        schema, example = list_of(contract.returns), [example]
    return {
        "description": "Success.",
        "headers": references(*dict.fromkeys(headers)),
        "content": {JSON: {"schema": schema, "example": example}},
        "links": {
            operation[:1].upper() + operation[1:]: {
                "operationId": operation,
                "parameters": parameters,
            }
            for operation, parameters in contract.links.items()
        },
    }


def _example(schema: Schema) -> dict[str, Any]:
    return {
        field.data_key or name: field.metadata["example"]
        for name, field in schema.fields.items()
    }


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
