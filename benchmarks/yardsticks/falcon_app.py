"""The job by hand in Falcon."""

import falcon

from benchmarks.yardsticks import job


def respond(request, response, operation, *arguments):
    key = request.get_header("Authorization", default="")
    status, headers, response.data = job.answer(operation, key, *arguments)
    response.status = status
    response.content_type = "application/json"
    response.set_headers(headers)


class Pets:
    def on_get(self, request, response):
        url = request.prefix + request.path
        respond(request, response, job.list_pets, request.params, url)

    def on_post(self, request, response):
        body = request.bounded_stream.read()
        respond(request, response, job.create_pet, body)


class Pet:
    def on_get(self, request, response, pet_id):
        respond(request, response, job.get_pet, pet_id)


app = falcon.App()
app.add_route("/v1/pets", Pets())
app.add_route("/v1/pets/{pet_id:int}", Pet())
