"""/openapi.json and /docs: the interface, described by the code that serves it."""

from flask import Flask

from petstore.extensions.openapi import document, page
from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    document.init_app(app, settings)
    page.init_app(app, settings)
