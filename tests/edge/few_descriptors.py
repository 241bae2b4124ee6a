"""gunicorn.conf.py where the system allows 64 descriptors."""

import resource
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
