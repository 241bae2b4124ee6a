"""What gunicorn calls when the service and its workers start and end.

Like wsgi.py, this module is an entry to the service: only gunicorn.conf.py imports it.
Gunicorn's master imports it before the worker class has patched the standard library,
and keeps it after a reload. So each hook imports what it needs of the service itself.
"""

import os
import signal
import socket
import sys
from errno import EACCES, EADDRINUSE
from importlib import import_module

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from petstore.extensions import EXTENSIONS
from petstore.settings import SettingError, read_settings, unknown_settings

try:
    settings = read_settings()
except SettingError as error:
    sys.exit(f"Error: {error}")
# Those of the extensions that are served. They are imported before gevent replaces
# what they use.
EXTENSIONS_HOOKS = [
    import_module(f"petstore.extensions.{name}.gunicorn_hooks")
    for name in settings.extensions
    if EXTENSIONS[name].has_gunicorn_hooks
]


def all_addresses() -> list[str]:
    """Return where gunicorn listens unless `--bind` says it: for IPv6 and for IPv4.

    A socket for IPv6 serves IPv4 as well, but not where the system has `bindv6only`.
    """
    ipv6, ipv4 = f"[::]:{settings.port}", f"0.0.0.0:{settings.port}"
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::", 0))
            is_alone = probe.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
    except OSError:  # the host has no IPv6
        return [ipv4]
    return [ipv6, ipv4] if is_alone else [ipv6]


def on_starting(server: Arbiter) -> None:
    """Refuse to start if nothing could be served rightly; warn of what may be wrong."""
    from petstore.server.worker import open_files
    from petstore.storage import migrator
    from petstore.storage.database import close_databases, open_databases
    from petstore.timeouts import LIMITS

    _require_worker(server)
    _require_free_ports(server)
    for hooks in EXTENSIONS_HOOKS:
        hooks.on_starting(server)
    for warning in unknown_settings():
        server.log.warning(warning)
    if (limit := open_files()) <= LIMITS.spare_descriptors:
        server.log.warning(
            f"a worker may open {limit} files, and needs {LIMITS.spare_descriptors} "
            "beside its connections; it may close these unanswered; raise the limit "
            "(ulimit -n)"
        )
    open_databases(settings)
    try:
        migrator.require_migrated()
    except migrator.NotMigrated as error:
        sys.exit(f"Error: {error}")
    finally:
        close_databases()


def _require_worker(server: Arbiter) -> None:
    """Exit if the workers would patch the standard library too late.

    What is imported by now has seen the library as it was: all greenlets of a worker
    would share one connection to the database, and its transaction.
    """
    from petstore.server.worker import Worker as OwnWorker

    patch = getattr(server.worker_class, "patch", OwnWorker.patch)
    if patch is not OwnWorker.patch:
        name = server.cfg.worker_class_str
        advice = "leave the worker class to gunicorn.conf.py, or take gthread"
        sys.exit(f"Error: workers of the class {name} would mix requests up; {advice}.")


def _require_free_ports(server: Arbiter) -> None:
    """Exit if a port is taken; gunicorn would try it again for five seconds."""
    if server.cfg.reuse_port or {"GUNICORN_FD", "LISTEN_FDS"} & os.environ.keys():
        return  # the port is shared, or its socket is inherited
    for host, port in filter(lambda each: isinstance(each, tuple), server.cfg.address):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            with socket.socket(family) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
        except OSError as error:
            advice = "set PORT to another number, like 8080"
            if error.errno not in (EADDRINUSE, EACCES):
                advice = "bind to an address of this machine"
            host = f"[{host}]" if ":" in host else host
            sys.exit(f"Error: {host}:{port}: {error.strerror}; {advice}.")


def pre_fork(server: Arbiter, worker: Worker) -> None:
    for hooks in EXTENSIONS_HOOKS:
        hooks.pre_fork(server, worker)


def post_fork(server: Arbiter, worker: Worker) -> None:
    """Undo what a new worker inherits from the master.

    With the signal handlers of the master, it would lose a signal that arrives before
    it has handlers of its own.
    """
    for hooks in EXTENSIONS_HOOKS:
        hooks.post_fork(server, worker)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def worker_exit(_server: Arbiter, _worker: Worker) -> None:
    """Write the records of requests that the worker has not written yet."""
    from petstore.models import flush_queues

    flush_queues()


def child_exit(server: Arbiter, worker: Worker) -> None:
    for hooks in EXTENSIONS_HOOKS:
        hooks.child_exit(server, worker)
