"""A program that begins as a copy is like one that a shell starts."""

import json
from pathlib import Path

from tests.harness.programs import run

TELLING = """
import atexit, json, os, sys
told = {
    "arguments": sys.argv[1:],
    "directory": os.getcwd(),
    "environ": dict(os.environ),
    "descriptors": len(os.listdir("/proc/self/fd")) - 1,
    "modules": list(sys.modules),
}
print(json.dumps(told))
print("an error", file=sys.stderr)
atexit.register(print, "the end", file=sys.stderr)
sys.exit(3)
"""


def test_program_has_its_own_surroundings_and_no_module_of_the_service(tmp_path: Path):
    script = tmp_path / "telling.py"
    script.write_text(TELLING)
    ended = run([str(script), "a"], {"PORT": "1"}, tmp_path)
    told = json.loads(ended.stdout)
    modules = {name.partition(".")[0] for name in told.pop("modules")}
    assert "gunicorn" in modules
    assert not modules & {"petstore", "prometheus_client"}
    assert told == {
        "arguments": ["a"],
        "directory": str(tmp_path),
        "environ": {"PORT": "1"},
        "descriptors": 3,
    }
    assert (ended.returncode, ended.stderr) == (3, "an error\nthe end\n")
