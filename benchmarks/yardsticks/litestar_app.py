"""The job by hand in Litestar; it waits in Litestar's threads."""

from litestar import Litestar, Request, Response, get, post
from litestar.concurrency import sync_to_thread

from benchmarks.yardsticks import job


async def respond(request, operation, *arguments):
    key = request.headers.get("Authorization", "")
    answer = await sync_to_thread(job.answer, operation, key, *arguments)
    status, headers, body = answer
    return Response(
        body, status_code=status, headers=headers, media_type="application/json"
    )


@get("/v1/pets")
async def list_pets(request: Request) -> Response[bytes]:
    url = str(request.url).partition("?")[0]
    return await respond(request, job.list_pets, request.query_params, url)


@post("/v1/pets")
async def create_pet(request: Request) -> Response[bytes]:
    return await respond(request, job.create_pet, await request.body())


@get("/v1/pets/{pet_id:int}")
async def get_pet(request: Request, pet_id: int) -> Response[bytes]:
    return await respond(request, job.get_pet, pet_id)


app = Litestar([list_pets, create_pet, get_pet], openapi_config=None)
