"""gunicorn.conf.py with other limits, those of the variable TEST_LIMITS."""

import json
import os
from dataclasses import replace
from pathlib import Path

from petstore.server import timeouts

timeouts.LIMITS = replace(timeouts.LIMITS, **json.loads(os.environ["TEST_LIMITS"]))

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
