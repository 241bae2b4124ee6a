"""Fixtures that run the service under gunicorn, and raw connections to it."""

from tests.harness.gunicorn_fixtures import key, serve, server_environ, service, wire

__all__ = ["key", "serve", "server_environ", "service", "wire"]
