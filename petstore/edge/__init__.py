"""The HTTP server: a gunicorn worker with an event loop."""
