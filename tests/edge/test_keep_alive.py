"""How long a connection lasts, and what may come over it."""

import pytest

from tests.edge.wire import Wire, get, post

NO_KEY = "none"


def test_a_connection_carries_one_request_after_the_other(wire: Wire, key: str):
    for _ in range(3):
        answer = wire.send(get(key)).answer()
        assert (answer.status, answer.headers["Connection"]) == (200, "keep-alive")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (get(NO_KEY), 401),
        (get(NO_KEY, path="/v1/nothing"), 401),
        (get(NO_KEY, path="/nothing"), 404),
        (get(NO_KEY).replace(b"GET", b"PUT"), 401),
        (post(NO_KEY, "Content-Length: 2") + b"{}", 401),
    ],
)
def test_a_refusal_of_the_application_leaves_it_open(
    wire: Wire, key: str, sent: bytes, status: int
):
    assert wire.send(sent).answer().status == status
    assert wire.send(get(key)).answer().status == 200


def test_a_client_may_send_requests_before_it_has_answers(wire: Wire, key: str):
    body = b'{"name": "Rex", "categoryId": 7}'
    wire.send((post(key, f"Content-Length: {len(body)}") + body) * 20 + get(key))
    ids = [wire.answer().json["id"] for _ in range(20)]
    assert ids == sorted(set(ids))
    assert [pet["id"] for pet in wire.answer().json] == ids


def test_whoever_asks_for_it_is_let_go(wire: Wire, key: str):
    answer = wire.send(get(key, "Connection: close") + get(key)).answer()
    assert (answer.status, answer.headers["Connection"]) == (200, "close")
    assert wire.is_closed()


def test_http_1_0_is_let_go(wire: Wire, key: str):
    sent = get(key).replace(b"HTTP/1.1\r\nHost: x", b"HTTP/1.0")
    assert wire.send(sent).answer().status == 200
    assert wire.is_closed()


def test_http_1_0_stays_where_it_asks_for_it(wire: Wire, key: str):
    sent = get(key, "Connection: keep-alive").replace(b"HTTP/1.1", b"HTTP/1.0")
    for _ in range(2):
        answer = wire.send(sent).answer()
        assert (answer.status, answer.headers["Connection"]) == (200, "keep-alive")


def test_no_version_of_the_future_is_promised(wire: Wire, key: str):
    wire.send(get(key).replace(b"HTTP/1.1", b"HTTP/1.9"))
    assert wire.line() == "HTTP/1.1 200 OK"


def test_head_has_the_headers_of_get_and_no_body(wire: Wire, key: str):
    length = wire.send(get(key)).answer().headers["Content-Length"]
    answer = wire.send(get(key).replace(b"GET", b"HEAD")).answer(has_body=False)
    assert (answer.status, answer.headers["Content-Length"]) == (200, length)
    assert wire.send(get(key)).answer().status == 200


def test_an_empty_line_before_a_request_is_forgiven(wire: Wire, key: str):
    wire.send(get(key), b"\r\n", get(key))
    assert [wire.answer().status, wire.answer().status] == [200, 200]


def test_a_client_that_ends_its_side_is_answered(wire: Wire, key: str):
    wire.send(get(key) * 20).socket.shutdown(1)
    assert {wire.answer().status for _ in range(20)} == {200}
    assert wire.is_closed()
