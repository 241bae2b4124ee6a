"""The OpenAPI document: schemas, responses and examples."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
import yaml
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator

from tests.harness.answers import RATE_LIMIT_HEADERS

EVERY_HEADER = RATE_LIMIT_HEADERS | {"X-Request-ID", "Access-Control-Allow-Origin"}
CONTRACT = yaml.safe_load(Path(__file__).with_name("contract.yaml").read_text())
# Anchors, and `\S` or a class of ASCII, once or more: what all languages have.
PORTABLE = re.compile(r"\^?(\\S|\[[ -Z^-~]+\])\+?\$?")


def every(part: Any, *keys: str) -> Iterator[dict]:
    """Yield each object, at any depth, that has all of the keys."""
    if isinstance(part, dict):
        if all(key in part for key in keys):
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from every(inner, *keys)


@pytest.fixture(scope="module")
def responses(description: dict, operations: dict) -> dict[str, dict[str, dict]]:
    """The responses of each operation by status, with references resolved."""
    shared = description["components"]["responses"]
    found = {name: dict(each["responses"]) for name, each in operations.items()}
    for statuses in found.values():
        for status, response in statuses.items():
            if "$ref" in response:
                statuses[status] = shared[response["$ref"].rpartition("/")[2]]
    return found


def test_each_schema_requires_what_is_always_there(description: dict):
    schemas = description["components"]["schemas"]
    for name, members in CONTRACT["required"].items():
        assert set(schemas[name]["required"]) == set(members)


def test_each_operation_documents_its_conflicts(responses: dict):
    for name, codes in CONTRACT["conflicts"].items():
        content = responses[name]["409"]["content"]["application/json"]
        assert content["examples"].keys() - {"idempotency_key_in_use"} == set(codes)


def test_each_response_documents_its_headers(responses: dict):
    own = {
        "429": {"Retry-After"},
        "503": {"Retry-After"},
        "401": {"WWW-Authenticate"},
        "list 200": {"Link"},
        "create 201": {"Location", "Idempotent-Replayed"},
        "getPet 200": {"Deprecation", "Sunset", "Link"},
    }
    for name, statuses in responses.items():
        verb = re.match("[a-z]+", name)[0]
        for status, response in statuses.items():
            keys = (status, f"{verb} {status}", f"{name} {status}")
            headers = EVERY_HEADER.union(*(own.get(key, ()) for key in keys))
            assert response["headers"].keys() >= headers, (name, status)


def test_every_body_has_an_example_and_each_is_valid(description: dict):
    components = {"components": description["components"]}
    checker = Draft202012Validator.FORMAT_CHECKER
    parts = [*every(description, "schema", "examples")]
    examples = [
        (x["schema"], y["value"]) for x in parts for y in x["examples"].values()
    ]
    for part in every(description, "example"):
        examples.append((part.get("schema", part), part["example"]))
    for schema, example in examples:
        validator = Draft202012Validator(schema | components, format_checker=checker)
        validator.validate(example)
    assert len(examples) > 60
    for part in every(description["paths"], "application/json"):
        assert part["application/json"].keys() & {"example", "examples"}


def test_examples_work_one_after_another(client: FlaskClient, operations: dict):
    for name in CONTRACT["as_sent"]:
        operation = operations[name]
        sent: dict[str, dict] = {"path": {}, "query": {}}
        for each in operation["parameters"]:
            if each["name"] != "Idempotency-Key":
                sent[each["in"]][each["name"]] = each["example"]
        body = operation.get("requestBody", {"content": {"application/json": {}}})
        answer = client.open(
            "/v1" + operation["path"].format_map(sent["path"]),
            method=operation["method"],
            query_string=sent["query"],
            json=body["content"]["application/json"].get("example"),
        )
        assert answer.status_code < 300, (name, answer.text)
        assert answer.json != [], name
    assert sorted(CONTRACT["as_sent"]) == sorted(operations)


def test_patterns_and_texts_compile_everywhere(reader: FlaskClient, description: dict):
    text = reader.get("/openapi.json").text
    kinds = {category(each) for each in text if each != " "}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}
    for schema in every(description, "pattern"):
        assert PORTABLE.fullmatch(schema["pattern"])


def test_no_client_refuses_what_is_sent_to_it(description: dict, responses: dict):
    """Some compile a pattern to check what they read, and count its bytes."""
    schemas = description["components"]["schemas"]
    read = re.findall("#/components/schemas/([A-Za-z]+)", str(responses))
    items = [
        part["items"]["$ref"].rpartition("/")[2] for part in every(schemas, "items")
    ]
    parts = [description["components"]["headers"]]
    for part in every([*parts, *(schemas[name] for name in {*read, *items})]):
        assert not part.keys() & {"pattern", "additionalProperties"}
        assert part.get("maxLength") != 200  # a name may have that many


def test_every_value_is_bounded(description: dict):
    for schema in every(description, "type"):
        if "integer" in schema["type"]:
            assert schema["format"] == "int64"
            assert -(2**63) <= schema["minimum"] < schema["maximum"] <= 2**63 - 1
        if "string" in schema["type"]:
            assert "enum" in schema or "maxLength" in schema
        assert schema.get("maxItems") == (100 if schema["type"] == "array" else None)
