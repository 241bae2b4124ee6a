"""Reads a list by a client of openapi-python-client."""

import json
import os

from petstore_client import AuthenticatedClient
from petstore_client.api.pets import list_pets

client = AuthenticatedClient(os.environ["API"], os.environ["KEY"])
print(json.dumps([pet.name for pet in list_pets.sync(client=client)]))
