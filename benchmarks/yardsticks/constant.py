"""A minimal Flask application, with a view that returns constant bytes."""

from flask import Flask, Response

app = Flask(__name__, static_folder=None)


@app.get("/v1/pets")
def pets():
    return Response(b"[]", content_type="application/json")
