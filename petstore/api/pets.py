"""/v1/pets: list, create and get animals (specification sections 4.1 to 4.3)."""

from flask import Blueprint, g

from petstore import clock
from petstore.api.contract import Contract, Result
from petstore.api.deprecation import deprecated
from petstore.api.idempotency import idempotent
from petstore.api.paging import page
from petstore.models.pets import Pet
from petstore.routing import API_PREFIX
from petstore.schemas.pets import NewPetSchema, PetQuery, PetSchema

PETS = f"{API_PREFIX}/pets"
GET_PET_DEPRECATED_MS = clock.instant_ms(2025, 12, 5)
GET_PET_REMOVED_MS = clock.instant_ms(2030, 12, 5)

bp = Blueprint("pets", __name__, url_prefix=PETS)


@bp.get("")
@Contract(query=PetQuery(), returns=PetSchema(many=True))
def list_pets(limit: int, after: int, status: str | None = None) -> Result:
    """List animals by ascending id."""
    rows = Pet.page(g.caller.project_id, after=after, limit=limit + 1, status=status)
    return page(rows, limit)


@bp.post("")
@idempotent
@Contract(
    body=NewPetSchema(),
    returns=PetSchema(),
    statuses=(201,),
    links={"getPet": {"petId": "$response.body#/id"}},
)
def create_pet(name: str, category_id: int, status: str) -> Result:
    """Add an animal."""
    pet = Pet.add(g.caller.project_id, name, category_id, status)
    return Result(pet, {"Location": _location(pet.id)}, is_created=True)


@bp.get("/<id:pet_id>")
@deprecated(
    since_ms=GET_PET_DEPRECATED_MS,
    removed_ms=GET_PET_REMOVED_MS,
    successor=PETS,
    documentation="/docs#/Pets/getPet",
)
@Contract(returns=PetSchema())
def get_pet(pet_id: int) -> Result:
    """Fetch one animal; deprecated, list with a filter instead."""
    return Result(Pet.find(g.caller.project_id, pet_id))


def _location(pet_id: int) -> str:
    if clock.now_ms() < GET_PET_REMOVED_MS:
        return f"{PETS}/{pet_id}"
    return f"{PETS}?after={pet_id - 1}&limit=1"
