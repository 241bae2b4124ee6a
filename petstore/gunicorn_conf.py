"""The settings of gunicorn; the hooks are in gunicorn_hooks.py.

Nothing else of the service is imported here, because the worker class has not patched
the standard library yet.
"""

from petstore import gunicorn_hooks
from petstore.settings import MEMORY

raw_env = [hooks.RAW_ENV for hooks in gunicorn_hooks.EXTENSIONS_HOOKS]

bind = gunicorn_hooks.all_addresses()
workers = gunicorn_hooks.settings.workers
worker_class = "petstore.server.worker.Worker"
worker_connections = 2_000  # fewer if the system limits open files to fewer
# Reverse proxies keep idle connections for less time, so they close them first. If the
# service closed one while a proxy sends a POST on it, the POST would be lost, because
# the proxy must not retry it.
keepalive = 75
worker_tmp_dir = MEMORY

# Only the application decides which proxies are trusted (PETSTORE_TRUSTED_PROXIES).
forwarded_allow_ips = ""
forwarder_headers = ""
control_socket_disable = True

# Gunicorn's own lines look like those of the service.
logconfig_dict = {
    "handlers": {"lines": {"class": "petstore.log.LineHandler"}},
    "loggers": {"gunicorn.error": {"handlers": ["lines"], "propagate": False}},
    "root": {"handlers": ["lines"], "level": "WARNING"},
}

on_starting = gunicorn_hooks.on_starting
pre_fork = gunicorn_hooks.pre_fork
post_fork = gunicorn_hooks.post_fork
worker_exit = gunicorn_hooks.worker_exit
child_exit = gunicorn_hooks.child_exit
