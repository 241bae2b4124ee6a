"""The job by hand in Flask."""

from flask import Flask, Response, request

from benchmarks.yardsticks import job

app = Flask(__name__, static_folder=None)


def respond(operation, *arguments):
    key = request.headers.get("Authorization", "")
    status, headers, body = job.answer(operation, key, *arguments)
    return Response(body, status, headers, content_type="application/json")


@app.get("/v1/pets")
def list_pets():
    return respond(job.list_pets, request.args, request.base_url)


@app.post("/v1/pets")
def create_pet():
    return respond(job.create_pet, request.get_data())


@app.get("/v1/pets/<int:pet_id>")
def get_pet(pet_id):
    return respond(job.get_pet, pet_id)
