"""gunicorn.conf.py with deadlines that a test can wait for."""

from pathlib import Path

from petstore.edge import worker

worker.REQUEST_SECONDS = 1.0
worker.SEND_SECONDS = 1.0
worker.LINGER_SECONDS = 0.5

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
