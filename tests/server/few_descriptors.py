"""The settings of other tests, with a limit of 160 file descriptors."""

import resource
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))

exec(Path("tests/harness/limited_gunicorn.py").read_text(encoding="utf-8"))
