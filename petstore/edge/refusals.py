"""What cannot be read is answered by the application, as everything else is."""

from flask import Flask, request
from gunicorn.http.errors import LimitRequestHeaders

from petstore.edge.connection import Connection
from petstore.edge.exchange import Exchange
from petstore.edge.framing import DirectRequest, Options, Received
from petstore.errors import Failure, HeadersTooLarge, InvalidRequest

REFUSAL = "petstore.refusal"
# It stands for the request that nobody could read.
STAND_IN = b"GET /v1 HTTP/1.1\r\nHost: unreadable\r\nConnection: close\r\n\r\n"


def init_app(app: Flask) -> None:
    """Answer a refusal before anything else is asked."""
    app.before_request(_refuse)


def refusal_of(error: Exception) -> Failure:
    """What to tell the client whose request gunicorn's parser did not accept."""
    if isinstance(error, LimitRequestHeaders):
        return HeadersTooLarge("The headers are too large.")
    return InvalidRequest(f"The request is no HTTP: {type(error).__name__}.")


def stand_in(connection: Connection, cfg: Options, refusal: Failure) -> Exchange:
    """An exchange in which the application answers the refusal."""
    received = Received()
    received.feed(STAND_IN)
    readable = DirectRequest(cfg, received, connection.address)
    exchange = Exchange(readable, connection.environ)
    exchange.environ[REFUSAL] = refusal
    return exchange


def _refuse() -> None:
    refusal = request.environ.get(REFUSAL)
    if refusal:
        raise refusal
