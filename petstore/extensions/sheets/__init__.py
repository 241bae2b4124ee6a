"""Animals and orders as CSV: files that people take along, or bring."""

from flask import Flask

from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Have nothing to set up but the pages."""
