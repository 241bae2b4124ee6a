"""Operations of the interface description, generated from contracts."""

import inspect
import json
import re
from typing import Any

from flask import Flask, current_app
from werkzeug.routing import Rule

from petstore.errors import ERRORS
from petstore.models import Conflict
from petstore.models.grants import TAKES
from petstore.openapi.components import (
    CONFLICT,
    INT64,
    failure,
    list_of,
    references,
)
from petstore.openapi.guide import link
from petstore.schemas import ResourceSchema, StrictSchema
from petstore.schemas.paging import PageQuery
from petstore.web.application import API_PREFIX, camel

TAGS = {"pets": ["Pets", "animals"]}
OTHER_TAGS = ["Store"]
ON_EVERY_OPERATION = (400, 401, 403, 421, 429, 500, 503)
WITH_ID = (404,)
WITH_BODY = (413, 415)
WITH_IDEMPOTENCY_KEY = (CONFLICT, 422)
METHODS_WITH_IDEMPOTENCY_KEY = ("POST", "PATCH")
WITH_DEPRECATION = (410,)
JSON = "application/json"
EXAMPLE_ID = "42"
# The label of each sample, which names its template, and the language of the sample.
SAMPLES = {"curl": "Shell", "Python": "Python", "JavaScript": "JavaScript"}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    # No example: a tool that fills it in would send the same key with every request.
    "description": "A new key of your own for each request that you may have to retry.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "pattern": "^[!-~]+$",
    },
}


def operations(app: Flask) -> dict[str, dict[str, Any]]:
    """Return every operation by its path below /v1 and its method."""
    paths: dict[str, dict[str, Any]] = {}
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        if hasattr(view, "contract"):
            [method] = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            path = re.sub(r"<id:(\w+)>", lambda id: f"{{{camel(id[1])}}}", rule.rule)
            path = path.removeprefix(API_PREFIX)
            operation = _operation(path, rule, method, view)
            paths.setdefault(path, {})[method.lower()] = operation
    return paths


def _operation(path: str, rule: Rule, method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    summary, _, details = (inspect.getdoc(view) or "").partition("\n\n")
    paragraphs = (details, TAKES.get(contract.takes), _see_also(method, view))
    body = _example(contract.body) if contract.body else None
    operation: dict[str, Any] = {
        "operationId": camel(view.__name__),
        "summary": summary.rstrip("."),
        "description": "\n\n".join(filter(None, paragraphs)),
        "tags": TAGS.get(rule.endpoint.partition(".")[0], OTHER_TAGS),
        "parameters": [
            *map(_path_parameter, sorted(rule.arguments)),
            {"in": "query", "schema": type(contract.query)},
        ],
        "responses": _responses(rule, method, view),
        "x-codeSamples": _samples(method, path, contract, body),
    }
    if contract.body:
        content = {"schema": type(contract.body), "example": body}
        operation["requestBody"] = {"required": True, "content": {JSON: content}}
    if method in METHODS_WITH_IDEMPOTENCY_KEY:
        operation["parameters"].append(IDEMPOTENCY_KEY)
    if contract.deprecation:
        operation["deprecated"] = True
        operation["x-sunset"] = contract.deprecation.headers["Sunset"]
    return operation


def _see_also(method: str, view: Any) -> str:
    """Return links to what the guide says about the operation."""
    concerns = {
        "Deprecation": view.contract.deprecation,
        "Retries": method in METHODS_WITH_IDEMPOTENCY_KEY,
        "Paging": isinstance(view.contract.query, PageQuery),
        "Limits": True,
        "Errors": True,
    }
    links = [link(title) for title, is_concerned in concerns.items() if is_concerned]
    return f"See also: {', '.join(links)}."


def _samples(method: str, path: str, contract: Any, body: Any) -> list[dict[str, str]]:
    """Return a call of an operation in each language, as Redocly's x-codeSamples."""
    values = {
        "method": method,
        "path": re.sub(r"{\w+}", EXAMPLE_ID, path),
        "body": body,
        "json": json.dumps(body),
        "is_list": isinstance(contract.query, PageQuery),
        "has_key": method in METHODS_WITH_IDEMPOTENCY_KEY,
        "has_answer": contract.returns is not None,
    }
    template = current_app.jinja_env.get_template
    return [
        {
            "lang": language,
            "label": label,
            "source": template(f"samples/{label}.txt").render(values),
        }
        for label, language in SAMPLES.items()
    ]


def _path_parameter(name: str) -> dict[str, Any]:
    return {
        "name": camel(name),
        "in": "path",
        "required": True,
        "description": f"The id of the {name.removesuffix('_id')}.",
        "schema": INT64,
        "example": int(EXAMPLE_ID),
    }


def _responses(rule: Rule, method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    statuses = {
        *ON_EVERY_OPERATION,
        *(WITH_ID if rule.arguments else ()),
        *(WITH_BODY if contract.body else ()),
        *(WITH_IDEMPOTENCY_KEY if method in METHODS_WITH_IDEMPOTENCY_KEY else ()),
        *(WITH_DEPRECATION if contract.deprecation else ()),
        *(ERRORS[error.code].status for error in contract.rule_errors),
    }
    successes = {str(status): _success(method, view) for status in contract.statuses}
    failures: dict[str, Any] = {
        str(status): f"Failure{status}" for status in sorted(statuses)
    }
    if CONFLICT in statuses:
        failures[str(CONFLICT)] = _conflict(method, view)
    return successes | failures


def _conflict(method: str, view: Any) -> dict[str, Any]:
    errors = view.contract.rule_errors
    codes = {error.code for error in errors}
    if method not in METHODS_WITH_IDEMPOTENCY_KEY:
        return failure(CONFLICT, codes)
    is_stored = any(issubclass(error, Conflict) for error in errors)
    repeated = ["Idempotent-Replayed"] * is_stored
    codes.add("idempotency_key_in_use")
    return failure(CONFLICT, codes, "Retry-After", *repeated)


def _success(method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    headers = [
        *(("Location",) if method == "POST" else ()),
        *(("Idempotent-Replayed",) if method in METHODS_WITH_IDEMPOTENCY_KEY else ()),
        *(("Link",) if isinstance(contract.query, PageQuery) else ()),
        *(contract.deprecation.headers if contract.deprecation else ()),
    ]
    response: dict[str, Any] = {
        "description": "Success.",
        "headers": references(*headers),
        "links": {
            operation[:1].upper() + operation[1:]: {
                "operationId": operation,
                "parameters": parameters,
            }
            for operation, parameters in contract.links.items()
        },
    }
    if contract.returns:
        response["content"] = {JSON: _returned(contract.returns, contract.example)}
    return response


def _returned(returns: ResourceSchema, own_example: dict[str, str]) -> dict[str, Any]:
    example = _example(returns) | own_example
    if returns.many:
        return {"schema": list_of(returns), "example": [example]}
    return {"schema": type(returns), "example": example}


def _example(schema: StrictSchema) -> dict[str, Any]:
    return {
        field.data_key or name: field.metadata["example"]
        for name, field in schema.fields.items()
    }
