"""How gunicorn serves `wsgi:app`."""

import sys

from gunicorn.arbiter import Arbiter

from petstore.database import counters, data, open_databases
from petstore.migrator import NotMigrated, require_migrated
from petstore.settings import SettingError, read_settings

try:
    settings = read_settings()
except SettingError as error:
    sys.exit(f"Error: {error}")

bind = f"0.0.0.0:{settings.port}"
workers = settings.workers
worker_class = "gthread"
threads = 4

# Only the application decides which proxies are believed (PETSTORE_TRUSTED_PROXIES).
forwarded_allow_ips = ""
forwarder_headers = ""
control_socket_disable = True


def on_starting(server: Arbiter) -> None:
    """Refuse to serve a database that is not migrated."""
    open_databases(settings)
    try:
        require_migrated()
    except NotMigrated as error:
        sys.exit(f"Error: {error}")
    finally:
        data.close()
        counters.close()
