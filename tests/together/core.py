"""Try the core alone, with all extensions deleted; `make core` runs this.

In a copy, its tests run, and vulture and mypy look at it. Then mypy looks at a copy
for each extension without that one; tests/together/test_deletions.py starts these.
"""

import re
import subprocess
import sys
import tempfile
from itertools import chain
from pathlib import Path

from petstore.extensions import EXTENSIONS
from tests.harness.deletion import copy_without

BESIDE = (
    *("docs", "deploy", "tests", "benchmarks", "README.md", "CHANGELOG.md"),
    *("wsgi.py", "gunicorn.conf.py", "Procfile", "setup.cfg", "pyproject.toml"),
    "requirements.txt",
)
# Names that only libraries use: click, Flask, gunicorn, httptools, marshmallow, Peewee
# and logging.
OF_LIBRARIES = (
    *("Meta", "indexes", "primary_key", "constraints", "legacy_table_names", "*_ms"),
    *("*_by", "served_*", "refused_*", "pet_name", "pet_folded", "closed_*", "commit"),
    *("rollback", "get_binary_type", "reuse_if_open", "prepare_threshold", "check"),
    *("ClusterStorage", "SentinelStorage", "hit", "_deserialize", "on_*", "plural"),
    *("field_name", "required", "load_default", "error_messages", "get_command"),
    *("list_commands", "command_class", "request_context", "response_class", "regex"),
    *("to_python", "merge_slashes", "get_send_file_max_age", "setup", "handlers"),
    *("exception_stream", "raw_env", "worker_tmp_dir", "forwarded_allow_ips"),
    *("forwarder_headers", "control_socket_disable", "logconfig_dict", "ModelSelect"),
)
# What a template reads, settings, which are checked before anything forks, and the list
# of the extensions.
ELSEWHERE = (
    "audience",
    "picture",
    "domain",
    "contact",
    "HTTPS_PORT",
    "INTERFACE",
    "checks",
)
# What the core has for extensions alone, and why it is not theirs: ten names at most.
FOR_EXTENSIONS = {
    "what differs between the engines is a method of each": ("position", "scan"),
    "several need it": (
        *("camel", "give_way", "require_private_client", "required_caller"),
    ),
    "several register something": ("add_entrance", "add_reference", "do_regularly"),
    "a contract stands whole beside its view": ("rule_errors",),
}
DECORATORS = "@bp.*,@*command*,@app.*,@keys.*,@projects.*,@*pre_load*,@*validates*"


def run(copy: Path, *module: str) -> None:
    subprocess.run([sys.executable, "-m", *module], check=True, cwd=copy)


def main() -> None:
    """Raise `CalledProcessError` for what fails."""
    for names in ([*EXTENSIONS], *([name] for name in EXTENSIONS)):
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory)
            print("without", *names, flush=True)
            copy_without(names, copy, *BESIDE)
            if "dashboard" in names:  # others have pages only where it is
                for path in copy.glob("petstore/extensions/*/*.py"):
                    if re.search(r"extensions(\.| import )dashboard", path.read_text()):
                        path.unlink()
            run(copy, "mypy")
            if names == [*EXTENSIONS]:
                offered = [*chain(*FOR_EXTENSIONS.values())]
                assert len(offered) <= 10
                ignored = ",".join([*OF_LIBRARIES, *ELSEWHERE, *offered])
                options = ("--ignore-names", ignored, "--ignore-decorators", DECORATORS)
                run(copy, "vulture", "petstore", "--exclude=migrations", *options)
                run(copy, "pytest", "tests/core", "--numprocesses=2", "--dist=loadfile")


if __name__ == "__main__":
    main()
