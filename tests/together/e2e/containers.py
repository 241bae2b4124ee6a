"""Images that buildah makes without a registry, and programs that run in them.

The base is what `make e2e` has made of Debian's packages, and pip finds the wheels that
it has downloaded. A program has namespaces of its own for mounts and processes, which
end with its first process; the network is the machine's.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from tests.harness.shell import printed_by

DELIVERED = Path(sys.prefix) / "image"
BASE = "localhost/base"
MEMORY, ROOM_BYTES = "/dev/shm", 4_000_000_000


def directory_with_room() -> str:
    """Return memory, if programs may run there: disks are slow with so many files."""
    memory = os.statvfs(MEMORY)
    has_room = memory.f_bavail * memory.f_frsize > ROOM_BYTES
    return MEMORY if has_room and not memory.f_flag & os.ST_NOEXEC else gettempdir()


class Image:
    """An image that is built in a directory, which holds all that buildah writes."""

    def __init__(self, directory: Path, file: Path, context: Path) -> None:
        self._directory = directory
        imported = ["--isolation=chroot", f"--tag={BASE}", "--file=-", DELIVERED]
        self._buildah("build", *imported, stdin="FROM scratch\nADD base.tar /\n")
        settings = directory / "pip.conf"  # for which pip asks no index
        settings.write_text("[global]\nno-index = true\nfind-links = /wheels\n")
        mounts = [(DELIVERED / "wheels", "/wheels"), (settings, "/etc/pip.conf")]
        volumes = [f"--volume={source}:{target}:ro" for source, target in mounts]
        options = ["--isolation=chroot", f"--build-arg=BASE={BASE}", *volumes]
        options += ["--format=docker", "--tag=petstore", f"--file={file}", context]
        self._buildah("build", *options)
        inspected = self._buildah("inspect", "--type", "image", "petstore")
        self.config: dict[str, Any] = json.loads(inspected)["Docker"]["config"]
        container = self._buildah("from", "--pull-never", "petstore")
        self.root = Path(self._buildah("mount", container))

    def _buildah(self, *arguments: object, stdin: str | None = None) -> str:
        places = ["--root", self._directory / "root"]
        places += ["--runroot", self._directory / "run"]
        command = ["buildah", "--storage-driver", "vfs", *places, *arguments]
        environ = os.environ | {"TMPDIR": str(self._directory)}
        return printed_by(command, input=stdin, env=environ, timeout=None).strip()

    def command(
        self, arguments: Sequence[str] = (), environ: Mapping[str, str] | None = None
    ) -> list[str]:
        """Return the command that runs a program, or that of the image, in it.

        It runs as the user of the image, with its variables and in its directory.
        """
        user, _, group = self.config["User"].partition(":")
        [home] = self.config["Volumes"]
        given = [f"{name}={value}" for name, value in (environ or {}).items()]
        return [
            *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
            *(f"--root={self.root}", "--mount-proc", f"--setuid={user}"),
            *(f"--setgid={group}", f"--wd={self.config['WorkingDir']}"),
            *("env", "--ignore-environment", *self.config["Env"], f"HOME={home}"),
            *given,
            *(arguments or self.config["Cmd"]),
        ]
