"""What `flask check` tells of the metrics."""

import os
import tempfile
from errno import ENOSPC
from pathlib import Path

from petstore import timeouts
from petstore.settings import MEMORY, Settings


def metrics(settings: Settings) -> tuple[str, str]:
    """Write as much as all workers need, where they keep their metrics."""
    place = settings.metrics_directory or MEMORY or tempfile.gettempdir()
    needed = 2 * settings.workers * timeouts.LIMITS.metrics_bytes
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place) as file:
            os.posix_fallocate(file.fileno(), 0, needed)
    except OSError as error:
        remedy = "Make room" if error.errno == ENOSPC else "Let the service write there"
        return "wrong", (
            f"{place} takes no {needed // 1024:,} KiB of metrics: {error.strerror}. "
            f"Workers may start without metrics, or not at all. {remedy}, or set "
            "PROMETHEUS_MULTIPROC_DIR to another directory in memory"
        )
    return "ok", f"{place} has room for the metrics of {settings.workers} workers"
