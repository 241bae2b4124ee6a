"""Where gunicorn finds its settings."""

from petstore.gunicorn_conf import *
