"""gunicorn.conf.py with the time limits of tests/harness/patience.py."""

from pathlib import Path

from tests.harness.patience import be_patient

be_patient()

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
