"""Where `gunicorn wsgi:app` and `flask` find the service."""

from petstore import wsgi

app = wsgi.app
