"""The OpenAPI document: schemas, responses and examples."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from petstore.errors import ERRORS
from tests.harness.answers import RATE_LIMIT_HEADERS

EVERY_HEADER = RATE_LIMIT_HEADERS | {"X-Request-ID", "Access-Control-Allow-Origin"}
EVERYWHERE = {"400", "401", "403", "421", "429", "500", "503"}
WITH_BODY = {"413", "415"}
STATUSES = {
    "listPets": {"200"},
    "createPet": {"201", "409", "422"} | WITH_BODY,
    "getPet": {"200", "404", "410"},
    "updatePet": {"200", "404", "409", "422"} | WITH_BODY,
    "deletePet": {"204", "404", "409"},
    "listOrders": {"200"},
    "createOrder": {"201", "409", "422"} | WITH_BODY,
    "getOrder": {"200", "404"},
    "updateOrder": {"200", "404", "409", "422"} | WITH_BODY,
    "deleteOrder": {"204", "404", "409"},
    "listCategories": {"200"},
    "putCategory": {"200", "201", "404", "409"} | WITH_BODY,
    "deleteCategory": {"204", "404", "409"},
}
CONFLICTS = {
    "createPet": {"project_full"},
    "createOrder": {"pet_not_available", "project_full"},
    "updatePet": {"pet_not_available", "project_full"},
    "deletePet": {"pet_not_available"},
    "updateOrder": {"order_closed"},
    "deleteOrder": {"order_open"},
    "putCategory": {"project_full"},
    "deleteCategory": {"category_in_use"},
}
REQUIRED = {
    "Pet": {"id", "name", "categoryId", "status"},
    "NewPet": {"name", "categoryId"},
    "PetChange": set(),
    "Error": {"code", "message", "status"},
    "Order": {"id", "petId", "status", "reference", "createdAt", "updatedAt"},
    "NewOrder": {"petId"},
    "OrderChange": set(),
    "Category": {"id", "name"},
    "CategoryChange": {"name"},
}


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
def schemas(description: dict) -> dict[str, dict]:
    """The schemas that have names."""
    return description["components"]["schemas"]


@pytest.fixture(scope="module")
def responses(description: dict, operations: dict) -> dict[str, dict[str, dict]]:
    """The responses of each operation by status, with references resolved."""
    shared = description["components"]["responses"]
    return {
        name: {
            status: shared[response["$ref"].rpartition("/")[2]]
            if "$ref" in response
            else response
            for status, response in operation["responses"].items()
        }
        for name, operation in operations.items()
    }


def test_each_operation_documents_its_statuses_and_conflicts(responses: dict):
    described = {name: set(statuses) for name, statuses in responses.items()}
    assert described == {name: own | EVERYWHERE for name, own in STATUSES.items()}
    for name, codes in CONFLICTS.items():
        content = responses[name]["409"]["content"]["application/json"]
        assert content["examples"].keys() - {"idempotency_key_in_use"} == codes


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


def test_error_responses_have_the_error_schema_and_examples(responses: dict):
    for statuses in responses.values():
        for status in statuses.keys() - {"200", "201", "204"}:
            content = statuses[status]["content"]["application/json"]
            assert content["schema"] == {"$ref": "#/components/schemas/Error"}
            for code, example in content["examples"].items():
                assert example["value"]["code"] == code
                assert str(example["value"]["status"]) == status


def test_every_body_has_an_example_and_each_is_valid(description: dict):
    components = {"components": description["components"]}
    examples = [
        (part["schema"], part["example"])
        for part in every(description, "schema", "example")
    ]
    examples += [
        (part["schema"], example["value"])
        for part in every(description, "schema", "examples")
        for example in part["examples"].values()
    ]
    examples += [
        (part, part["example"]) for part in every(description, "type", "example")
    ]
    checker = Draft202012Validator.FORMAT_CHECKER
    for schema, example in examples:
        validator = Draft202012Validator(schema | components, format_checker=checker)
        validator.validate(example)
    assert len(examples) > 60
    for part in every(description["paths"], "application/json"):
        assert part["application/json"].keys() & {"example", "examples"}


def test_every_value_is_bounded_and_patterns_have_no_look_ahead(description: dict):
    """RE2, which generated Go and Rust clients use, knows neither `(?` nor `\\u`."""
    for schema in every(description, "type"):
        if "integer" in schema["type"]:
            assert schema["format"] == "int64"
            assert -(2**63) <= schema["minimum"] < schema["maximum"] <= 2**63 - 1
        if "string" in schema["type"]:
            assert "enum" in schema or "maxLength" in schema
            assert schema.keys() & {"enum", "pattern", "format"}
        assert schema.get("maxItems") == (100 if schema["type"] == "array" else None)
    for schema in every(description, "pattern"):
        assert not re.search(r"\(\?|\\u", schema["pattern"])


def test_schemas_match_the_specification(schemas: dict):
    objects = {name: s for name, s in schemas.items() if s["type"] == "object"}
    required = {name: set(s.get("required", ())) for name, s in objects.items()}
    assert required == REQUIRED
    assert schemas["PetChange"]["minProperties"] == 1
    assert not any(schema["additionalProperties"] for schema in objects.values())
    assert schemas["PetStatus"]["enum"] == ["available", "pending", "sold"]
    assert schemas["OrderStatus"]["enum"] == ["placed", "completed", "cancelled"]
    assert schemas["Pets"]["items"] == {"$ref": "#/components/schemas/Pet"}
    pet, new_pet = schemas["Pet"]["properties"], schemas["NewPet"]["properties"]
    assert pet.keys() == {"id", "name", "categoryId", "status"}
    assert new_pet.keys() == pet.keys() - {"id"}
    assert new_pet["status"]["default"] == "available"
    code = schemas["Error"]["properties"]["code"]  # one may be added later
    assert (code["type"], code["examples"], "enum" in code) == (
        "string",
        list(ERRORS),
        False,
    )
