"""The HTTP server: gunicorn's worker. Only gunicorn imports this package."""
