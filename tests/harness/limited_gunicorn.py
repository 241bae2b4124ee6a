"""gunicorn.conf.py with the limits of the variable TEST_LIMITS."""

import json
import os
from pathlib import Path

# First, since it sets a variable that the service reads when it is imported.
exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))

from petstore import timeouts  # noqa: E402 (see above)

timeouts.LIMITS = timeouts.Limits(**json.loads(os.environ["TEST_LIMITS"]))
