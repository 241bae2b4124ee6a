"""The settings of other tests, with a limit of TEST_DESCRIPTORS file descriptors."""

import os
import resource
from pathlib import Path

descriptors = int(os.environ["TEST_DESCRIPTORS"])
resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

exec(Path("tests/harness/limited_gunicorn.py").read_text(encoding="utf-8"))
