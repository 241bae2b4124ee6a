"""listPets: GET /v1/pets (specification section 4.1); see test_lists.py."""

from flask.testing import FlaskClient


def test_category_parameter_filters_alone_and_with_a_status(client: FlaskClient):
    kinds = [(0, "sold"), (7, "sold"), (7, "available"), (2**63 - 1, "sold")] * 3
    pets = [
        {"name": "Rex", "categoryId": category, "status": status}
        for category, status in kinds
    ]
    pets = [client.post("/v1/pets", json=pet).json for pet in pets]
    assert client.get("/v1/pets").json == pets
    for category in (0, 7, 8, 2**63 - 1):
        alike = [pet for pet in pets if pet["categoryId"] == category]
        path = f"/v1/pets?categoryId={category}"
        assert client.get(path).json == alike
        for status in ("available", "sold", "pending"):
            both = [pet for pet in alike if pet["status"] == status]
            assert client.get(f"{path}&status={status}").json == both
