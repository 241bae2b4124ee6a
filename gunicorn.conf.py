"""The gunicorn settings for `wsgi:app`; the hooks are in petstore/gunicorn_hooks.py.

Nothing but the settings is imported here: the class of the workers, which is not known
yet, may have to patch the standard library first.
"""

import os
import re
import sys
import tempfile

from petstore.settings import SettingError, read_settings

try:
    settings = read_settings()
except SettingError as error:
    sys.exit(f"Error: {error}")

# Use memory if possible: the kernel kills a process that writes to a memory-mapped file
# on a full disk. S108 does not apply: mkdtemp and mkstemp create private files there.
SHARED_MEMORY = "/dev/shm"  # noqa: S108
memory = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None

# The hooks and prometheus_client read this variable when they are imported. After a
# SIGHUP it names the directory of this master, after a SIGUSR2 perhaps that of another.
given = os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")
made_by = re.fullmatch(r"petstore-metrics-(\d+)-\w{8}", os.path.basename(given))
if not given or (made_by and made_by[1] != str(os.getpid())):
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(
        prefix=f"petstore-metrics-{os.getpid()}-", dir=memory
    )

from petstore import gunicorn_hooks

bind = f"0.0.0.0:{settings.port}"
workers = settings.workers
worker_class = "petstore.server.worker.Worker"
worker_connections = 2_000  # fewer if the system limits open files to fewer
# This is longer than reverse proxies keep idle connections, so the proxy closes them
# first. If the service closed a connection while a proxy sends a POST on it, the POST
# would be lost, because the proxy must not retry it.
keepalive = 75
worker_tmp_dir = memory

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
post_worker_init = gunicorn_hooks.post_worker_init
worker_exit = gunicorn_hooks.worker_exit
on_exit = gunicorn_hooks.on_exit
