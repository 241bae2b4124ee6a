"""The edge of the service: how gunicorn's workers talk to clients."""
