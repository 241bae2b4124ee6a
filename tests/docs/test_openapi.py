"""/openapi.json: the interface as clients and their tools read it."""

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
    """One engine is enough: the description is the same with each."""
    return sqlite_url


def test_it_is_valid_openapi_31(description: dict):
    assert description["openapi"].startswith("3.1.")
    OpenAPIV31SpecValidator(description).validate()


def test_it_carries_the_version_of_the_interface(description: dict):
    assert description["info"]["version"] == "1.0.0"
    assert description["info"]["title"] == "Pet Store Service"


def test_it_is_json_for_anybody(stranger: FlaskClient):
    answer = stranger.get("/openapi.json")
    assert (answer.status_code, answer.content_type) == (200, "application/json")


def test_each_operation_has_its_id_and_its_tags(operations: dict):
    described = {
        name: (operation["method"], operation["path"], operation["tags"])
        for name, operation in operations.items()
    }
    assert described == OPERATIONS


def test_the_schemas_have_the_names_of_the_specification(
    description: dict, operations: dict
):
    schemas = description["components"]["schemas"]
    assert {"Pet", "NewPet", "Pets", "PetStatus", "Error"} <= schemas.keys()
    assert schemas["PetStatus"]["enum"] == ["available", "pending", "sold"]
    assert schemas["Pets"]["items"] == {"$ref": "#/components/schemas/Pet"}
    [answer] = operations["listPets"]["responses"]["200"]["content"].values()
    assert answer["schema"] == {"$ref": "#/components/schemas/Pets"}


def test_whatever_has_a_status_of_an_animal_refers_to_it(
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


def test_every_operation_takes_a_bearer_token(description: dict, operations: dict):
    schemes = description["components"]["securitySchemes"]
    assert schemes == {"apiKey": {"type": "http", "scheme": "bearer"}}
    assert description["security"] == [{"apiKey": []}]
    assert not [
        name for name, operation in operations.items() if "security" in operation
    ]


def test_get_pet_alone_is_deprecated_with_its_sunset(operations: dict):
    deprecated = {name for name, op in operations.items() if op.get("deprecated")}
    assert deprecated == {"getPet"}
    assert operations["getPet"]["x-sunset"] == "Thu, 05 Dec 2030 00:00:00 GMT"
    headers = operations["getPet"]["responses"]["200"]["headers"]
    assert {"Deprecation", "Sunset", "Link"} <= headers.keys()


def test_every_operation_is_summed_up(operations: dict):
    summaries = [operation["summary"] for operation in operations.values()]
    assert len(set(summaries)) == len(OPERATIONS)


def test_what_was_created_is_linked_to_what_can_be_done_with_it(operations: dict):
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


def test_every_post_takes_an_idempotency_key(operations: dict):
    takes = {
        name: parameter["schema"]
        for name, operation in operations.items()
        for parameter in operation["parameters"]
        if parameter["name"] == "Idempotency-Key"
    }
    assert takes.keys() == {"createPet", "createOrder"}
    assert takes["createPet"]["maxLength"] == 255


class TestServers:
    def test_are_those_of_the_settings(self, environ: dict, request):
        environ["PETSTORE_PRODUCTION_URL"] = PRODUCTION
        environ["PETSTORE_STAGING_URL"] = STAGING
        servers = request.getfixturevalue("description")["servers"]
        assert [(server["description"], server["url"]) for server in servers] == [
            ("Production", PRODUCTION),
            ("Staging", STAGING),
        ]

    def test_may_be_one_alone(self, environ: dict, request):
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
    def test_are_where_the_request_was_sent_without_settings(
        self, stranger: FlaskClient, base: str, url: str
    ):
        [server] = stranger.get("/openapi.json", base_url=base).json["servers"]
        assert server["url"] == url

    @pytest.mark.parametrize("host", ["", 'a"b', "[::1", "a b", "ex.org/x?"])
    def test_are_relative_where_the_host_cannot_be_one(self, app: Flask, host: str):
        answer = app.test_client().get("/openapi.json", headers={"Host": host})
        assert [server["url"] for server in answer.json["servers"]] == ["/v1"]
