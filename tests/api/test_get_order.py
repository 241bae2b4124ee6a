"""getOrder: GET /v1/store/orders/{orderId} (decisions on orders)."""

from flask.testing import FlaskClient

from tests.harness.answers import NOT_FOUND, error_of, seen

ORDERS = "/v1/store/orders"


def test_an_order_is_fetched_by_its_id(client: FlaskClient, order: dict):
    answer = client.get(f"{ORDERS}/{order['id']}")
    assert (answer.status_code, answer.json) == (200, order)


def test_order_of_another_project_looks_like_a_missing_one(
    rival_client: FlaskClient, order: dict
):
    foreign, missing = (rival_client.get(f"{ORDERS}/{order['id'] + n}") for n in (0, 1))
    assert error_of(foreign) == NOT_FOUND
    assert seen(foreign) == seen(missing)
