"""gunicorn.conf.py of a service that waits for its stores."""

from pathlib import Path

from tests.patience import be_patient

be_patient()

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
