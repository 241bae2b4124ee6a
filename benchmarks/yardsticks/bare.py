"""The least that gunicorn can serve: constant bytes from a WSGI callable."""

BODY = b"[]"
HEADERS = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))]


def app(environ, start_response):
    start_response("200 OK", HEADERS)
    return [BODY]
