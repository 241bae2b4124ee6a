"""The OpenAPI document at /openapi.json: operations, tags and servers."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from flask.testing import FlaskClient

CONTRACT = yaml.safe_load(Path(__file__).with_name("contract.yaml").read_text())
PRODUCTION, STAGING = "https://api.example.org/v1", "https://s.example.org:8443/a/v1"


def test_document_is_valid_openapi_31(reader: FlaskClient, description: dict):
    # To import it takes as long as to collect ten files.
    from openapi_spec_validator import OpenAPIV31SpecValidator

    headers = {"Origin": "https://tools.example"}
    answer = reader.get("/openapi.json", headers=headers)
    assert answer.content_type == "application/json"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert description["openapi"] == "3.1.0"
    assert description["info"]["version"] == "1.0.0"
    assert description["info"]["title"] == "Pet Store Service"
    OpenAPIV31SpecValidator(description).validate()


def test_each_operation_has_its_id_path_and_tags(description: dict, operations: dict):
    described = {
        name: [operation["method"], operation["path"], operation["tags"]]
        for name, operation in operations.items()
    }
    assert described == CONTRACT["operations"]
    assert [tag["name"] for tag in description["tags"]] == ["Pets", "animals", "Store"]
    assert all(tag["description"] for tag in description["tags"])
    schemes = description["components"]["securitySchemes"]
    assert schemes == {"apiKey": {"type": "http", "scheme": "bearer"}}
    assert description["security"] == [{"apiKey": []}]
    assert not [name for name, each in operations.items() if "security" in each]


def test_only_get_pet_is_deprecated_with_a_sunset(operations: dict):
    deprecated = {name for name, op in operations.items() if op.get("deprecated")}
    assert deprecated == {"getPet"}
    assert operations["getPet"]["x-sunset"] == "Thu, 05 Dec 2030 00:00:00 GMT"


def test_every_post_and_patch_takes_an_idempotency_key(operations: dict):
    takes = {
        name: parameter
        for name, operation in operations.items()
        for parameter in operation["parameters"]
        if parameter["name"] == "Idempotency-Key"
    }
    keyed = {each for each in operations if each.startswith(("create", "update"))}
    assert takes.keys() == keyed
    for parameter in takes.values():
        assert parameter["schema"]["maxLength"] == 255
        given = parameter.keys() | parameter["schema"].keys()
        assert not given & {"example", "examples", "default"}


@pytest.mark.parametrize("production", [PRODUCTION, None])
def test_servers_come_from_the_settings(
    environ: dict[str, str], request: pytest.FixtureRequest, production: str | None
):
    environ |= {"PETSTORE_PRODUCTION_URL": production} if production else {}
    environ["PETSTORE_STAGING_URL"] = STAGING
    answer = request.getfixturevalue("stranger").get("/openapi.json")
    shown = [(each["description"], each["url"]) for each in answer.json["servers"]]
    expected = [("Production", production)] if production else []
    assert shown == [*expected, ("Staging", STAGING)]


def test_server_and_reference_default_to_the_host_of_the_request(reader: FlaskClient):
    def described(**options: Any) -> tuple[dict, dict]:
        document = reader.get("/openapi.json", **options).json
        [server] = document["servers"]
        return server, document["externalDocs"]

    for base in ("http://127.0.0.1:8000", "https://pets.example.org"):
        server, reference = described(base_url=base)
        assert (server["url"], reference["url"]) == (f"{base}/v1", f"{base}/docs")
        assert server["description"] == "This service, local or in production"
    for host in ("", 'a"b', "[::1", "a b", "ex.org/x?"):
        assert described(headers={"Host": host})[0]["url"] == "/v1"
