"""gunicorn.conf.py with the time limits of tests/patience.py."""

from pathlib import Path

from tests.patience import be_patient

be_patient()

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
