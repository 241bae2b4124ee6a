"""Reads a list by models of datamodel-codegen."""

import json
import os
from urllib.request import Request, urlopen

from petstore_models import Pets

headers = {"Authorization": f"Bearer {os.environ['KEY']}"}
with urlopen(Request(f"{os.environ['API']}/pets", headers=headers)) as response:
    pets = Pets.model_validate_json(response.read())
print(json.dumps([pet.name for pet in pets.root]))
