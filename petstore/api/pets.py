"""/v1/pets: list, create and get animals (specification sections 4.1 to 4.3)."""

from typing import Any

from flask import Blueprint

from petstore import clock
from petstore.api.contract import Contract, Result
from petstore.api.deprecation import deprecated
from petstore.api.idempotency import idempotent
from petstore.api.paging import page
from petstore.models.pets import Pet
from petstore.models.roles import READ, WRITE
from petstore.models.row_limits import ProjectFull
from petstore.schemas.pets import NewPetSchema, PetQuery, PetSchema
from petstore.web.application import API_PREFIX

PETS = f"{API_PREFIX}/pets"
GET_PET_DEPRECATED_MS = clock.instant_ms(2025, 12, 5)
GET_PET_REMOVED_MS = clock.instant_ms(2030, 12, 5)

bp = Blueprint("pets", __name__, url_prefix=PETS)


@bp.get("")
@Contract(takes=READ, query=PetQuery(), returns=PetSchema(many=True))
def list_pets(
    project_id: int, limit: int, after: int, status: str | None = None
) -> Result:
    """List animals.

    They are in ascending order of `id`; with `status`, only those with that status.
    """
    rows = Pet.page(project_id, after=after, limit=limit + 1, status=status)
    return page(rows, limit)


@bp.post("")
@idempotent
@Contract(
    takes=WRITE,
    body=NewPetSchema(),
    returns=PetSchema(),
    statuses=(201,),
    rule_errors=(ProjectFull,),
    links={"getPet": {"petId": "$response.body#/id"}},
)
def create_pet(project_id: int, **members: Any) -> Result:
    """Add an animal.

    Its category is created when an animal first names it.
    """
    pet = Pet.add(project_id, **members)
    return Result(pet, {"Location": _location(pet.id)}, is_created=True)


@bp.get("/<id:pet_id>")
@deprecated(
    since_ms=GET_PET_DEPRECATED_MS,
    removed_ms=GET_PET_REMOVED_MS,
    successor=PETS,
    documentation="/docs#getPet",
)
@Contract(takes=READ, returns=PetSchema())
def get_pet(project_id: int, pet_id: int) -> Result:
    """Get an animal.

    List animals with the filter `status` instead.
    """
    return Result(Pet.find(project_id, pet_id))


def _location(pet_id: int) -> str:
    if clock.now_ms() < GET_PET_REMOVED_MS:
        return f"{PETS}/{pet_id}"
    return f"{PETS}?after={pet_id - 1}&limit=1"
