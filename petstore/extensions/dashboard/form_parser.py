"""Reads forms: at most 20 fields, unless their page has more; files stay in memory."""

from io import BytesIO
from typing import IO, Any
from urllib.parse import unquote_to_bytes

from flask import Flask
from werkzeug.datastructures import MultiDict
from werkzeug.formparser import FormDataParser

from petstore.errors import MAX_BODY_BYTES, InvalidRequest
from petstore.web.application import ApplicationRequest, current_request

MAX_FIELDS = 20
FORM = "application/x-www-form-urlencoded"


class FormParser(FormDataParser):
    """Parses a form of at most `max_form_parts` fields."""

    def parse(
        self, stream: IO[bytes], mimetype: str, *rest: Any, **options: Any
    ) -> tuple[IO[bytes], MultiDict[str, str], MultiDict[str, Any]]:
        if mimetype == FORM:
            body, most = stream.read(), self.max_form_parts or MAX_FIELDS
            if body.count(b"&") >= most:  # before any field is looked at
                raise InvalidRequest(f"form: must have at most {most} fields")
            try:  # Werkzeug would keep other bytes as `%FF`
                unquote_to_bytes(body).decode()
            except UnicodeDecodeError:
                raise InvalidRequest("form: must be UTF-8") from None
            stream = BytesIO(body)
        elif current_request().state.caller is None:
            # To read 64 KiB of parts can take 40 ms, and strangers send no files.
            return stream, self.cls(), self.cls()
        # Files above 500 KB would be written to a disk, which may be full.
        self.stream_factory = lambda *_, **__: BytesIO()
        return super().parse(stream, mimetype, *rest, **options)


class PageRequest(ApplicationRequest):
    form_data_parser_class = FormParser


def init_app(app: Flask) -> None:
    app.request_class = PageRequest
    app.config["MAX_FORM_PARTS"] = MAX_FIELDS
    # For all fields without files, and for the headers of a part, which parse slowly.
    app.config["MAX_FORM_MEMORY_SIZE"] = 2 * MAX_BODY_BYTES
