"""The job by hand in FastAPI; it waits in the threads of Starlette."""

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool

from benchmarks.yardsticks import job
from benchmarks.yardsticks.starlette_app import respond

app = FastAPI(openapi_url=None)


@app.get("/v1/pets")
def list_pets(request: Request):
    url = str(request.url.replace(query=None))
    return respond(request, job.list_pets, request.query_params, url)


@app.post("/v1/pets")
async def create_pet(request: Request):
    body = await request.body()
    return await run_in_threadpool(respond, request, job.create_pet, body)


@app.get("/v1/pets/{pet_id}")
def get_pet(request: Request, pet_id: int):
    return respond(request, job.get_pet, pet_id)
