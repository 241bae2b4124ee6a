"""The entry of gunicorn (`wsgi:app`) and of `flask`."""

import sys

from petstore import create_app
from petstore.settings import SettingError

try:
    app = create_app()
except SettingError as error:
    sys.exit(f"Error: {error}")
