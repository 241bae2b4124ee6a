"""The service with a file of 6 MB, which is sent in pieces."""

import tempfile

from flask import Response, send_file

from petstore import create_app

app = create_app()
content = tempfile.NamedTemporaryFile()  # noqa: SIM115 (it lives as long as the process)
content.write(bytes(range(250)) * 24_000)
content.flush()


@app.get("/large-file")
def large_file() -> Response:
    """Return the file."""
    return send_file(content.name, mimetype="application/octet-stream")


@app.get("/parts/<int:count>")
def parts(count: int) -> Response:
    """Return so many parts of 1,000 bytes, whose number nobody knows beforehand."""
    return Response(bytes([65 + number % 26]) * 1000 for number in range(count))
