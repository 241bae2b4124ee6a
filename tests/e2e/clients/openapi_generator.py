"""What a client of OpenAPI Generator does, once it is generated."""

import json
import os
import re

from petstore_client import ApiClient, Configuration, PetsApi, StoreApi
from petstore_client.models import NewOrder, NewPet, PetChange


def client_of(address: str) -> ApiClient:
    return ApiClient(Configuration(os.environ[address], access_token=os.environ["KEY"]))


pets, store = PetsApi(client_of("API")), StoreApi(client_of("API"))

rex = pets.create_pet(NewPet(name="Rex", categoryId=7), idempotency_key="1")
for number in range(4):
    pets.create_pet(NewPet(name=f"Pet {number}.", categoryId=7))
max_ = pets.update_pet(rex.id, PetChange(name="Max"))
order = store.create_order(NewOrder(petId=rex.id, reference="Ada"))

names, after = [], 0
while after is not None:
    page = pets.list_pets_with_http_info(limit=2, after=after, category_id=7)
    names += [pet.name for pet in page.data]
    following = re.search("after=([0-9]+)", page.headers.get("Link", ""))
    after = int(following[1]) if following else None

print(json.dumps([max_.name, order.reference, names]))
