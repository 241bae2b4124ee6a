"""The job by hand in BlackSheep; it waits in the threads of asyncio."""

from asyncio import to_thread

from blacksheep import Application, Content, Request, Response

from benchmarks.yardsticks import job

app = Application()


async def respond(request, operation, *arguments):
    key = (request.get_first_header(b"Authorization") or b"").decode()
    answer = await to_thread(job.answer, operation, key, *arguments)
    status, headers, body = answer
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Response(status, pairs, Content(b"application/json", body))


@app.router.get("/v1/pets")
async def list_pets(request: Request):
    query = {name: values[0] for name, values in request.query.items()}
    url = f"{request.scheme}://{request.host}{request.path}"
    return await respond(request, job.list_pets, query, url)


@app.router.post("/v1/pets")
async def create_pet(request: Request):
    return await respond(request, job.create_pet, await request.read())


@app.router.get("/v1/pets/{int:pet_id}")
async def get_pet(request: Request, pet_id: int):
    return await respond(request, job.get_pet, pet_id)
