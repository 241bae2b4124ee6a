"""What a client of openapi-python-client does, once it is generated."""

import json
import os
import re

from petstore_client import AuthenticatedClient
from petstore_client.api.pets import create_pet, list_pets, update_pet
from petstore_client.api.store import create_order
from petstore_client.models import NewOrder, NewPet, PetChange

client = AuthenticatedClient(os.environ["API"], os.environ["KEY"])

rex = create_pet.sync(client=client, body=NewPet("Rex", 7), idempotency_key="1")
for number in range(4):
    create_pet.sync(client=client, body=NewPet(f"Pet {number}.", 7))
max_ = update_pet.sync(rex.id, client=client, body=PetChange("Max"))
order = create_order.sync(client=client, body=NewOrder(rex.id, "Ada"))

names, after = [], 0
while after is not None:
    page = list_pets.sync_detailed(client=client, limit=2, after=after, category_id=7)
    names += [pet.name for pet in page.parsed]
    following = re.search("after=([0-9]+)", page.headers.get("Link", ""))
    after = int(following[1]) if following else None
print(json.dumps([max_.name, order.reference, names]))
