"""gunicorn.conf.py with deadlines short enough for a test to wait for."""

from pathlib import Path

from petstore.edge import connection, worker

connection.REQUEST_SECONDS = worker.REQUEST_SECONDS = 1.0
connection.SEND_SECONDS = 1.0
connection.LINGER_SECONDS = worker.LINGER_SECONDS = 0.5

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
