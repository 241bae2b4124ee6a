"""Counts whatever a worker could ever count, if it counted it all."""

from petstore.errors import ERRORS
from petstore.extensions.monitoring import requests
from wsgi import app

statuses = {error.status for error in ERRORS.values()} | {200, 201, 204, 301, 303, 304}
for name in (*app.view_functions, ".unknown", ".refused"):
    operation = name.rpartition(".")[2]
    requests.DURATION.labels(operation)
    for status in statuses:
        requests.REQUESTS.labels(operation, status)
