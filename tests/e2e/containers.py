"""Images that buildah makes without a registry, and containers in namespaces.

The base is what `make e2e` has made of Debian's packages, and pip finds the wheels that
it has downloaded. A container has namespaces of its own for mounts and processes, which
end with its first process, so no mount is left behind; the network is the machine's.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

DELIVERED = Path(sys.prefix) / "image"
BASE = "localhost/base"
MEMORY, ROOM_BYTES = "/dev/shm", 4_000_000_000
START = """
cd "$1"
data="$2" at="$3" user="$4"
shift 4
mount --bind . .
cd "$PWD"
mount -t proc proc proc
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for node in null zero random urandom; do
    touch "dev/$node"
    mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/shm
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount --bind "$data" ".$at"
mount -o remount,bind,ro .
exec setpriv --no-new-privs chroot --userspec="$user" --groups= . "$@"
"""


def directory_with_room() -> str:
    """Return memory, if programs may run there: disks are slow with so many files."""
    memory = os.statvfs(MEMORY)
    has_room = memory.f_bavail * memory.f_frsize > ROOM_BYTES
    return MEMORY if has_room and not memory.f_flag & os.ST_NOEXEC else gettempdir()


class Store:
    """Images in a directory, which holds all that buildah writes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def buildah(self, *arguments: object, stdin: str | None = None) -> str:
        """Run buildah and return what it prints."""
        places = [
            "--root",
            self.directory / "root",
            "--runroot",
            self.directory / "run",
        ]
        done = subprocess.run(
            ["buildah", "--storage-driver", "vfs", *map(str, [*places, *arguments])],
            input=stdin,
            env=os.environ | {"TMPDIR": str(self.directory)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def import_base(self) -> None:
        """Make an image of the base."""
        text = "FROM scratch\nADD base.tar /\n"
        options = ["--isolation", "chroot", "--tag", BASE, "--file", "-"]
        self.buildah("build", *options, DELIVERED, stdin=text)

    def build(self, file: Path, context: str, tag: str, image_format: str) -> None:
        """Build an image, for which pip asks no index."""
        settings = self.directory / "pip.conf"
        settings.write_text("[global]\nno-index = true\nfind-links = /wheels\n")
        mounts = [(DELIVERED / "wheels", "/wheels"), (settings, "/etc/pip.conf")]
        volumes = [f"--volume={source}:{target}:ro" for source, target in mounts]
        options = ["--isolation=chroot", f"--build-arg=BASE={BASE}", *volumes]
        options += [f"--format={image_format}", f"--tag={tag}", f"--file={file}"]
        self.buildah("build", *options, context)

    def config_of(self, tag: str) -> dict[str, Any]:
        """Return what an image says about the containers that run it."""
        return json.loads(self.buildah("inspect", "--type", "image", tag))["Docker"][
            "config"
        ]

    def root_of(self, tag: str) -> Path:
        """Return the directory with the files of an image."""
        name = tag.translate(str.maketrans("/:", "--"))
        made = self.buildah("containers", "--format", "{{.ContainerName}}").split()
        if name not in made:
            self.buildah("from", "--name", name, "--pull-never", tag)
        return Path(self.buildah("mount", name))

    def command(
        self, tag: str, data: Path, arguments: Sequence[str], environ: Mapping[str, str]
    ) -> list[str]:
        """Return the command that runs an image with these data, read-only otherwise.

        It runs as the user of the image, with its variables and in its directory.
        Without arguments, it runs the command of the image.
        """
        config, root = self.config_of(tag), self.root_of(tag)
        [volume] = config["Volumes"]
        given = [f"{name}={value}" for name, value in environ.items()]
        return [
            *("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec"),
            *(START, "start", str(root), str(data), volume, config["User"]),
            *("env", "--ignore-environment", f"--chdir={config['WorkingDir']}"),
            *config["Env"],
            f"HOME={volume}",
            *given,
            *(arguments or config["Cmd"]),
        ]


def first_process(outer: int) -> int:
    """Return the first process of the container that a process has started."""
    return int(Path(f"/proc/{outer}/task/{outer}/children").read_text())
