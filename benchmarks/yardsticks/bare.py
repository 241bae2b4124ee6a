"""A minimal WSGI application for gunicorn, which returns constant bytes."""

BODY = b"[]"
HEADERS = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))]


def app(environ, start_response):
    start_response("200 OK", HEADERS)
    return [BODY]
