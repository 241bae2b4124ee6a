"""The OpenAPI document: schemas, parameters, responses and examples."""

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

EVERYWHERE = {"400", "401", "421", "429", "500", "503"}
WITH_BODY = {"413", "415"}
STATUSES = {
    "listPets": {"200"},
    "createPet": {"201", "409", "422"} | WITH_BODY,
    "getPet": {"200", "404", "410"},
    "listOrders": {"200"},
    "createOrder": {"201", "409", "422"} | WITH_BODY,
    "getOrder": {"200", "404"},
    "updateOrder": {"200", "404", "409"} | WITH_BODY,
    "listCategories": {"200"},
    "putCategory": {"200", "201", "404"} | WITH_BODY,
}
RATE_LIMIT_HEADERS = {
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit",
    "RateLimit-Policy",
}
REQUIRED = {
    "Pet": {"id", "name", "categoryId", "status"},
    "NewPet": {"name", "categoryId"},
    "Error": {"code", "message", "status"},
    "Order": {"id", "petId", "status", "createdAt", "updatedAt"},
    "NewOrder": {"petId"},
    "OrderChange": {"status"},
    "Category": {"id", "name"},
    "CategoryChange": {"name"},
}


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """An SQLite database; the document is the same with every engine."""
    return sqlite_url


def every(part: Any, *keys: str) -> Iterator[dict]:
    """Yield each object, at any depth, that has all of the keys."""
    if isinstance(part, dict):
        if all(key in part for key in keys):
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from every(inner, *keys)


@pytest.fixture
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


def test_each_operation_documents_its_statuses(responses: dict):
    described = {name: set(statuses) for name, statuses in responses.items()}
    assert described == {name: own | EVERYWHERE for name, own in STATUSES.items()}


def test_each_response_documents_its_headers(responses: dict):
    for name, statuses in responses.items():
        for status, response in statuses.items():
            assert response["headers"].keys() >= RATE_LIMIT_HEADERS
            if status in ("409", "429", "503"):
                assert "Retry-After" in response["headers"]
            if status == "409" or (name.startswith("create") and status == "201"):
                assert "Idempotent-Replayed" in response["headers"]
            if status == "401":
                assert "WWW-Authenticate" in response["headers"]
            if name.startswith("list") and status == "200":
                assert "Link" in response["headers"]
            if name.startswith("create") and status == "201":
                assert "Location" in response["headers"]


def test_error_responses_have_the_error_schema_and_examples(responses: dict):
    for statuses in responses.values():
        for status, response in statuses.items():
            if status >= "400":
                content = response["content"]["application/json"]
                assert content["schema"] == {"$ref": "#/components/schemas/Error"}
                for code, example in content["examples"].items():
                    assert example["value"]["code"] == code
                    assert str(example["value"]["status"]) == status


def test_every_example_is_valid_against_its_schema(description: dict):
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
        Draft202012Validator(schema | components, format_checker=checker).validate(
            example
        )
    assert len(examples) > 60


def test_every_body_has_an_example(description: dict):
    for part in every(description["paths"], "application/json"):
        content = part["application/json"]
        assert "example" in content or "examples" in content


def test_every_integer_is_an_int64_with_bounds(description: dict):
    schemas = [part for part in every(description, "type") if "integer" in part["type"]]
    assert schemas
    for schema in schemas:
        assert schema["format"] == "int64"
        assert -(2**63) <= schema["minimum"] < schema["maximum"] <= 2**63 - 1


def test_every_string_is_bounded(description: dict):
    schemas = [part for part in every(description, "type") if "string" in part["type"]]
    assert schemas
    for schema in schemas:
        assert "enum" in schema or "maxLength" in schema
        assert schema.keys() & {"enum", "pattern", "format"}


def test_every_array_has_at_most_100_items(description: dict):
    arrays = [part for part in every(description, "type") if part["type"] == "array"]
    assert [array["maxItems"] for array in arrays] == [100, 100, 100]


def test_object_schemas_list_required_members_and_forbid_others(description: dict):
    schemas = {
        name: schema
        for name, schema in description["components"]["schemas"].items()
        if schema["type"] == "object"
    }
    assert {name: set(s["required"]) for name, s in schemas.items()} == REQUIRED
    assert not any(schema["additionalProperties"] for schema in schemas.values())


def test_pet_schemas_match_the_specification(description: dict):
    pet = description["components"]["schemas"]["Pet"]["properties"]
    new_pet = description["components"]["schemas"]["NewPet"]["properties"]
    assert pet.keys() == {"id", "name", "categoryId", "status"}
    assert new_pet.keys() == pet.keys() - {"id"}
    assert pet["status"]["$ref"] == "#/components/schemas/PetStatus"
    assert new_pet["status"]["default"] == "available"


def test_list_limit_ranges_from_1_to_100(operations: dict):
    for name in ("listPets", "listOrders", "listCategories"):
        [limit] = [p for p in operations[name]["parameters"] if p["name"] == "limit"]
        schema = limit["schema"]
        assert (schema["minimum"], schema["maximum"], schema["default"]) == (1, 100, 20)
