"""What an operator does besides serving: looking at all, backups and copies."""

from flask import Flask

from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Have nothing to set up: all of it are commands."""
