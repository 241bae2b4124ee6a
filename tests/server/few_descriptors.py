"""gunicorn.conf.py with a limit of 64 file descriptors."""

import resource
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
