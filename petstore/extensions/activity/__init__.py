"""Who did what in a project, of the last 90 days."""

from flask import Flask

from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Have nothing to set up but the page: the core records what happens."""
