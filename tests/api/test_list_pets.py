"""listPets: GET /v1/pets (specification section 4.1); see test_lists.py."""

from flask.testing import FlaskClient


def test_listed_pets_equal_the_created_ones(client: FlaskClient):
    rex = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    ada = {"name": "Ada", "categoryId": 0, "status": "sold"}
    ada = client.post("/v1/pets", json=ada).json
    assert client.get("/v1/pets").json == [rex, ada]
    assert set(rex) == {"id", "name", "categoryId", "status"}
    assert client.get("/v1/pets?status=sold").json == [ada]
