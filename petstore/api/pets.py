"""/v1/pets: list, create, correct and withdraw animals (specification section 4)."""

from typing import Any

from flask import Blueprint

from petstore import clock
from petstore.api.contract import Contract, Deprecation, Result
from petstore.models.grants import PUBLIC, WRITE
from petstore.models.orders import correct_pet, withdraw_pet
from petstore.models.pets import Pet, PetNotAvailable
from petstore.models.projects import ProjectFull
from petstore.schemas.pets import NewPetSchema, PetChangeSchema, PetQuery, PetSchema
from petstore.web.application import API_PREFIX

PETS = f"{API_PREFIX}/pets"
GET_PET_DEPRECATED_MS = clock.instant_ms(2025, 12, 5)
GET_PET_REMOVED_MS = clock.instant_ms(2030, 12, 5)

bp = Blueprint("pets", __name__, url_prefix=PETS)


@bp.get("")
@Contract(required_role=PUBLIC, query=PetQuery(), returns=PetSchema(), paged=True)
def list_pets(project_id: int, **part: Any) -> Result:
    """List animals.

    They are in ascending order of `id`; with `status` or `categoryId`, only those with
    that status, of that category, or both.
    """
    return Result(Pet.page(project_id, **part))


@bp.post("")
@Contract(
    required_role=WRITE,
    body=NewPetSchema(),
    returns=PetSchema(),
    statuses=(201,),
    rule_errors=(ProjectFull,),
)
def create_pet(project_id: int, **members: Any) -> Result:
    """Add an animal.

    Its category is created when an animal first names it.
    """
    pet = Pet.add(project_id, **members)
    return Result(pet, {"Location": _location(pet.id)})


@bp.get("/<id:pet_id>")
@Contract(
    required_role=PUBLIC,
    returns=PetSchema(),
    deprecation=Deprecation(
        since_ms=GET_PET_DEPRECATED_MS,
        removed_ms=GET_PET_REMOVED_MS,
        successor=PETS,
        documentation="/docs#getPet",
    ),
)
def get_pet(project_id: int, pet_id: int) -> Result:
    """Get an animal.

    List animals instead, from the id before it on: for the animal 42, send
    `GET /v1/pets?after=41&limit=1`. It is the first item, if that has the `id` 42;
    otherwise there is no such animal.
    """
    return Result(Pet.get_own(project_id, pet_id))


@bp.patch("/<id:pet_id>")
@Contract(
    required_role=WRITE,
    body=PetChangeSchema(),
    returns=PetSchema(),
    rule_errors=(PetNotAvailable, ProjectFull),
)
def update_pet(project_id: int, pet_id: int, **changes: Any) -> Result:
    """Correct an animal.

    Members that are left out stay as they are. While an animal has an open order, its
    status follows from that order. The status of any other animal can be changed, for
    example when it is returned.
    """
    return Result(correct_pet(project_id, pet_id, **changes))


@bp.delete("/<id:pet_id>")
@Contract(required_role=WRITE, rule_errors=(PetNotAvailable,))
def delete_pet(project_id: int, pet_id: int) -> None:
    """Withdraw an animal.

    It must have no open order. Its orders stay, and keep its id, which no other animal
    gets.
    """
    withdraw_pet(project_id, pet_id)


def _location(pet_id: int) -> str:
    if clock.now_ms() < GET_PET_REMOVED_MS:
        return f"{PETS}/{pet_id}"
    return f"{PETS}?after={pet_id - 1}&limit=1"
