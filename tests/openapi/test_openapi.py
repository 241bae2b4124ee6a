"""The OpenAPI document at /openapi.json: operations, tags and servers."""

import re
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from openapi_spec_validator import OpenAPIV31SpecValidator

from petstore.models.plans import PLANS

PETS, STORE = ["Pets", "animals"], ["Store"]
OPERATIONS = {
    "listPets": ("get", "/pets", PETS),
    "createPet": ("post", "/pets", PETS),
    "getPet": ("get", "/pets/{petId}", PETS),
    "updatePet": ("patch", "/pets/{petId}", PETS),
    "deletePet": ("delete", "/pets/{petId}", PETS),
    "listOrders": ("get", "/store/orders", STORE),
    "createOrder": ("post", "/store/orders", STORE),
    "getOrder": ("get", "/store/orders/{orderId}", STORE),
    "updateOrder": ("patch", "/store/orders/{orderId}", STORE),
    "deleteOrder": ("delete", "/store/orders/{orderId}", STORE),
    "listCategories": ("get", "/categories", STORE),
    "putCategory": ("put", "/categories/{categoryId}", STORE),
    "deleteCategory": ("delete", "/categories/{categoryId}", STORE),
}
PRODUCTION, STAGING = "https://api.example.org/v1", "https://s.example.org:8443/a/v1"


def parameters(operations: dict, wanted: str) -> dict[str, dict[str, Any]]:
    """Return the parameter of that name of each operation that has it."""
    return {
        name: parameter
        for name, operation in operations.items()
        for parameter in operation["parameters"]
        if parameter["name"] == wanted
    }


def test_document_is_valid_openapi_31(reader: FlaskClient, description: dict):
    assert reader.get("/openapi.json").content_type == "application/json"
    assert description["openapi"].startswith("3.1.")
    assert description["info"]["version"] == "1.0.0"
    assert description["info"]["title"] == "Pet Store Service"
    OpenAPIV31SpecValidator(description).validate()


def test_each_operation_has_its_id_path_and_tags(description: dict, operations: dict):
    described = {
        name: (operation["method"], operation["path"], operation["tags"])
        for name, operation in operations.items()
    }
    assert described == OPERATIONS
    assert [tag["name"] for tag in description["tags"]] == ["Pets", "animals", "Store"]
    assert all(tag["description"] for tag in description["tags"])


def test_every_operation_requires_a_bearer_token(description: dict, operations: dict):
    schemes = description["components"]["securitySchemes"]
    assert schemes == {"apiKey": {"type": "http", "scheme": "bearer"}}
    assert description["security"] == [{"apiKey": []}]
    assert not [name for name, each in operations.items() if "security" in each]


def test_each_operation_names_its_own_conflicts(operations: dict):
    conflicts = {
        name: set(response["content"]["application/json"]["examples"])
        for name, operation in operations.items()
        if (response := operation["responses"].get("409"))
    }
    assert conflicts == {
        "createPet": {"project_full", "idempotency_key_in_use"},
        "createOrder": {
            "pet_not_available",
            "project_full",
            "idempotency_key_in_use",
        },
        "updatePet": {
            "pet_not_available",
            "project_full",
            "idempotency_key_in_use",
        },
        "deletePet": {"pet_not_available"},
        "updateOrder": {"order_closed", "idempotency_key_in_use"},
        "deleteOrder": {"order_open"},
        "putCategory": {"project_full"},
        "deleteCategory": {"category_in_use"},
    }


def test_only_get_pet_is_deprecated_with_a_sunset(operations: dict):
    deprecated = {name for name, op in operations.items() if op.get("deprecated")}
    assert deprecated == {"getPet"}
    assert operations["getPet"]["x-sunset"] == "Thu, 05 Dec 2030 00:00:00 GMT"
    headers = operations["getPet"]["responses"]["200"]["headers"]
    assert {"Deprecation", "Sunset", "Link"} <= headers.keys()


def test_every_post_and_patch_accepts_an_idempotency_key_and_suggests_none(
    operations: dict,
):
    takes = parameters(operations, "Idempotency-Key")
    assert takes.keys() == {"createPet", "createOrder", "updatePet", "updateOrder"}
    for parameter in takes.values():
        assert parameter["schema"]["maxLength"] == 255
        given = parameter.keys() | parameter["schema"].keys()
        assert not given & {"example", "examples", "default"}


def test_reference_states_the_limits_of_the_plans(reader: FlaskClient):
    page = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", reader.get("/docs").text))
    quotas = {plan: terms.quota for plan, terms in PLANS.items() if terms.quota}
    for plan, quota in quotas.items():
        figures = f"{quota.per_minute:,} {quota.per_day:,}"
        assert f"{plan.capitalize()} {figures}" in page


def test_what_replaces_get_pet_is_taught_with_an_example(
    reader: FlaskClient, operations: dict
):
    replacement = "pets?after=41&limit=1"
    assert f"/v1/{replacement}" in operations["getPet"]["description"]
    assert replacement in unescape(reader.get("/docs").text)


def test_pages_of_every_origin_may_read_the_description(reader: FlaskClient):
    headers = {"Origin": "https://tools.example"}
    answer = reader.get("/openapi.json", headers=headers)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    ("production", "servers"),
    [
        (PRODUCTION, [("Production", PRODUCTION), ("Staging", STAGING)]),
        (None, [("Staging", STAGING)]),
    ],
)
def test_servers_come_from_the_settings(
    environ: dict[str, str],
    request: pytest.FixtureRequest,
    production: str | None,
    servers: list[tuple[str, str]],
):
    environ |= {"PETSTORE_PRODUCTION_URL": production} if production else {}
    environ["PETSTORE_STAGING_URL"] = STAGING
    answer = request.getfixturevalue("stranger").get("/openapi.json")
    shown = [(each["description"], each["url"]) for each in answer.json["servers"]]
    assert shown == servers


@pytest.mark.parametrize("base", ["http://127.0.0.1:8000", "https://pets.example.org"])
def test_server_defaults_to_the_host_of_the_request(reader: FlaskClient, base: str):
    [server] = reader.get("/openapi.json", base_url=base).json["servers"]
    assert server["url"] == f"{base}/v1"
    assert server["description"] == "This service, local or in production"


def test_description_names_the_reference_at_the_host_of_the_request(
    reader: FlaskClient,
):
    answer = reader.get("/openapi.json", base_url="https://pets.example.org")
    assert answer.json["externalDocs"]["url"] == "https://pets.example.org/docs"


@pytest.mark.parametrize("host", ["", 'a"b', "[::1", "a b", "ex.org/x?"])
def test_server_is_relative_if_the_host_header_is_invalid(
    reader: FlaskClient, host: str
):
    [server] = reader.get("/openapi.json", headers={"Host": host}).json["servers"]
    assert server["url"] == "/v1"
