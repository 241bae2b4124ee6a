"""The job by hand in Starlette; it waits in Starlette's threads."""

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.yardsticks import job


def respond(request, operation, *arguments):
    key = request.headers.get("Authorization", "")
    status, headers, body = job.answer(operation, key, *arguments)
    return Response(body, status, headers, media_type="application/json")


def list_pets(request):
    url = str(request.url.replace(query=None))
    return respond(request, job.list_pets, request.query_params, url)


async def create_pet(request):
    body = await request.body()
    return await run_in_threadpool(respond, request, job.create_pet, body)


def get_pet(request):
    return respond(request, job.get_pet, request.path_params["pet_id"])


app = Starlette(
    routes=[
        Route("/v1/pets", list_pets),
        Route("/v1/pets", create_pet, methods=["POST"]),
        Route("/v1/pets/{pet_id:int}", get_pet),
    ]
)
