"""Reads a list by a client in Python."""

import json
import os

from petstore_client import ApiClient, Configuration, PetsApi

configuration = Configuration(os.environ["API"], access_token=os.environ["KEY"])
pets = PetsApi(ApiClient(configuration)).list_pets(limit=100)
print(json.dumps([pet.name for pet in pets]))
