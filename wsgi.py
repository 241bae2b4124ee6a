"""The entry of gunicorn (`wsgi:app`) and of `flask`."""

import os
import sys

# Where gunicorn has not read it before, importing gunicorn's modules does, and fails
# with a traceback where it is no number. It is for the settings to refuse.
workers = os.environ.pop("WEB_CONCURRENCY", None)

from petstore import create_app
from petstore.settings import SettingError

if workers is not None:
    os.environ["WEB_CONCURRENCY"] = workers

try:
    app = create_app()
except SettingError as error:
    sys.exit(f"Error: {error}")
