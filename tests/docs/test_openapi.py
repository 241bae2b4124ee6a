"""The OpenAPI document at /openapi.json: operations, tags, links and servers."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from openapi_spec_validator import OpenAPIV31SpecValidator

PETS, STORE = ["Pets", "animals"], ["Store"]
OPERATIONS = {
    "listPets": ("get", "/pets", PETS),
    "createPet": ("post", "/pets", PETS),
    "getPet": ("get", "/pets/{petId}", PETS),
    "listOrders": ("get", "/store/orders", STORE),
    "createOrder": ("post", "/store/orders", STORE),
    "getOrder": ("get", "/store/orders/{orderId}", STORE),
    "updateOrder": ("patch", "/store/orders/{orderId}", STORE),
    "listCategories": ("get", "/categories", STORE),
    "putCategory": ("put", "/categories/{categoryId}", STORE),
}
PRODUCTION, STAGING = "https://api.example.org/v1", "https://s.example.org:8443/a/v1"


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """An SQLite database; the document is the same with every engine."""
    return sqlite_url


def test_document_is_valid_openapi_31(description: dict):
    assert description["openapi"].startswith("3.1.")
    OpenAPIV31SpecValidator(description).validate()


def test_document_has_the_api_version_and_title(description: dict):
    assert description["info"]["version"] == "1.0.0"
    assert description["info"]["title"] == "Pet Store Service"


def test_document_is_json_and_needs_no_key(stranger: FlaskClient):
    answer = stranger.get("/openapi.json")
    assert (answer.status_code, answer.content_type) == (200, "application/json")


def test_each_operation_has_its_id_path_and_tags(operations: dict):
    described = {
        name: (operation["method"], operation["path"], operation["tags"])
        for name, operation in operations.items()
    }
    assert described == OPERATIONS


def test_schemas_have_the_names_in_the_specification(
    description: dict, operations: dict
):
    schemas = description["components"]["schemas"]
    assert {"Pet", "NewPet", "Pets", "PetStatus", "Error"} <= schemas.keys()
    assert schemas["PetStatus"]["enum"] == ["available", "pending", "sold"]
    assert schemas["Pets"]["items"] == {"$ref": "#/components/schemas/Pet"}
    [answer] = operations["listPets"]["responses"]["200"]["content"].values()
    assert answer["schema"] == {"$ref": "#/components/schemas/Pets"}


def test_each_pet_status_refers_to_the_shared_schema(
    description: dict, operations: dict
):
    schemas = description["components"]["schemas"]
    [parameter] = [
        parameter["schema"]
        for parameter in operations["listPets"]["parameters"]
        if parameter["name"] == "status"
    ]
    members = [schemas[name]["properties"]["status"] for name in ("Pet", "NewPet")]
    for schema in (parameter, *members):
        assert schema["$ref"] == "#/components/schemas/PetStatus"
        assert not schema.keys() & {"type", "enum"}


def test_each_tag_is_described(description: dict):
    assert [tag["name"] for tag in description["tags"]] == ["Pets", "animals", "Store"]
    assert all(tag["description"] for tag in description["tags"])


def test_every_operation_requires_a_bearer_token(description: dict, operations: dict):
    schemes = description["components"]["securitySchemes"]
    assert schemes == {"apiKey": {"type": "http", "scheme": "bearer"}}
    assert description["security"] == [{"apiKey": []}]
    assert not [
        name for name, operation in operations.items() if "security" in operation
    ]


def test_only_get_pet_is_deprecated_with_a_sunset(operations: dict):
    deprecated = {name for name, op in operations.items() if op.get("deprecated")}
    assert deprecated == {"getPet"}
    assert operations["getPet"]["x-sunset"] == "Thu, 05 Dec 2030 00:00:00 GMT"
    headers = operations["getPet"]["responses"]["200"]["headers"]
    assert {"Deprecation", "Sunset", "Link"} <= headers.keys()


def test_every_operation_has_its_own_summary(operations: dict):
    summaries = [operation["summary"] for operation in operations.values()]
    assert len(set(summaries)) == len(OPERATIONS)


def test_created_responses_link_to_related_operations(operations: dict):
    links = {
        name: operation["responses"]["201"]["links"]
        for name, operation in operations.items()
        if operation["method"] == "post"
    }
    pet, order = {"petId": "$response.body#/id"}, {"orderId": "$response.body#/id"}
    assert links == {
        "createPet": {"GetPet": {"operationId": "getPet", "parameters": pet}},
        "createOrder": {
            "GetOrder": {"operationId": "getOrder", "parameters": order},
            "UpdateOrder": {"operationId": "updateOrder", "parameters": order},
        },
    }


def test_every_post_accepts_an_idempotency_key(operations: dict):
    takes = {
        name: parameter["schema"]
        for name, operation in operations.items()
        for parameter in operation["parameters"]
        if parameter["name"] == "Idempotency-Key"
    }
    assert takes.keys() == {"createPet", "createOrder"}
    assert takes["createPet"]["maxLength"] == 255


class TestServers:
    def test_come_from_the_settings(self, environ: dict, request):
        environ["PETSTORE_PRODUCTION_URL"] = PRODUCTION
        environ["PETSTORE_STAGING_URL"] = STAGING
        servers = request.getfixturevalue("description")["servers"]
        assert [(server["description"], server["url"]) for server in servers] == [
            ("Production", PRODUCTION),
            ("Staging", STAGING),
        ]

    def test_may_be_staging_only(self, environ: dict, request):
        environ["PETSTORE_STAGING_URL"] = STAGING
        [server] = request.getfixturevalue("description")["servers"]
        assert server["url"] == STAGING

    @pytest.mark.parametrize(
        ("base", "url"),
        [
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
            ("https://pets.example.org", "https://pets.example.org/v1"),
        ],
    )
    def test_default_to_the_host_of_the_request(
        self, stranger: FlaskClient, base: str, url: str
    ):
        [server] = stranger.get("/openapi.json", base_url=base).json["servers"]
        assert server["url"] == url

    @pytest.mark.parametrize("host", ["", 'a"b', "[::1", "a b", "ex.org/x?"])
    def test_are_relative_if_the_host_header_is_invalid(self, app: Flask, host: str):
        answer = app.test_client().get("/openapi.json", headers={"Host": host})
        assert [server["url"] for server in answer.json["servers"]] == ["/v1"]
