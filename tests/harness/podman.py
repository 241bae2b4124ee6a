"""What podman does with the commands of docs/operating.md, by tests/harness/containers.

A container has the network of this machine, so the service itself listens on the port
that is published. Images, volumes and what runs are in the directory PODMAN_DIRECTORY.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from getopt import getopt
from pathlib import Path

from tests.harness.containers import Store

PROGRAM = """\
#!/bin/sh
export PYTHONPATH={root} PODMAN_DIRECTORY={directory}
exec {python} -m tests.harness.podman "$@"
"""
VALUES = ("env", "file", "format", "name", "publish", "tag", "time", "volume")
OF_PODMAN = ("cap-drop", "security-opt", "stop-timeout")  # not looked at
SWITCHES = ("detach", "force", "ignore", "read-only", "rm")
OPTIONS = [*(f"{name}=" for name in (*VALUES, *OF_PODMAN)), *SWITCHES]


def install(directory: Path, root: Path) -> Path:
    """Write a program `podman` for a directory, and return where it is."""
    program = directory / "bin" / "podman"
    program.parent.mkdir()
    text = PROGRAM.format(root=root, directory=directory, python=sys.executable)
    program.write_text(text)
    program.chmod(0o755)
    return program.parent


def kill_all(directory: Path) -> None:
    """Kill the first process of each container that still runs, and so all of it.

    Killing the process outside would not do: what has become another user goes on.
    """
    for note in directory.glob("*.json"):
        with suppress(OSError, ValueError):
            os.kill(first_process(json.loads(note.read_text())["pid"]), signal.SIGKILL)


class Podman:
    """Its commands, in one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = Store(directory)

    def build(self, options: dict[str, str], context: str) -> int:
        """Build an image; later ones of the same code are the first with more tags."""
        tag = f"localhost/{options['tag']}"
        made = self.store.buildah("images", "--format", "{{.Name}}:{{.Tag}}").split()
        earlier = [name for name in made if name.split(":")[0] == tag.split(":")[0]]
        if earlier:
            self.store.buildah("tag", earlier[0], tag)
        else:
            self.store.import_base()
            self.store.build(Path(options["file"]), context, tag, options["format"])
        return 0

    def run(self, options: dict[str, str], image: str, *arguments: str) -> int:
        """Run a container, or start it and leave a note with its process."""
        assert "read-only" in options
        environ = dict([options["env"].split("=", 1)])
        if "publish" in options:
            environ["PORT"] = options["publish"].split(":")[-2]
        tag = f"localhost/{image}"
        data = self._volume(options["volume"].split(":")[0], tag)
        command = self.store.command(tag, data, arguments, environ)
        if "detach" not in options:
            return subprocess.call(command)
        with (self.directory / f"{options['name']}.log").open("a") as log:
            started = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True
            )
        note = {"pid": started.pid, "tag": tag, "data": str(data), "environ": environ}
        self._note(options["name"]).write_text(json.dumps(note))
        return 0

    def exec(self, options: dict[str, str], name: str, *arguments: str) -> int:
        """Run a command beside a container, with what that has."""
        note = json.loads(self._note(name).read_text())
        own, data = self.store, Path(note["data"])
        command = own.command(note["tag"], data, arguments, note["environ"])
        return subprocess.call(command)

    def cp(self, options: dict[str, str], source: str, target: str) -> int:
        """Copy a file out of the volume of a container."""
        name, path = source.split(":")
        data = json.loads(self._note(name).read_text())["data"]
        shutil.copy(Path(data) / Path(path).name, target)
        return 0

    def rm(self, options: dict[str, str], name: str) -> int:
        """Stop a container, wait for its end, and forget it."""
        note = self._note(name)
        if not note.exists():
            return "ignore" not in options
        outer = json.loads(note.read_text())["pid"]
        ended = os.pidfd_open(outer)
        os.kill(first_process(outer), signal.SIGTERM)
        assert select.select([ended], [], [], int(options["time"]))[0], "it goes on"
        note.unlink()
        return 0

    def _note(self, name: str) -> Path:
        return self.directory / f"{name}.json"

    def _volume(self, name: str, tag: str) -> Path:
        """Return a volume; a new one is a copy of what the image has there."""
        data = self.directory / "volumes" / name
        if not data.exists():
            data.parent.mkdir(exist_ok=True)
            [place] = self.store.config_of(tag)["Volumes"]
            original = f"{self.store.root_of(tag)}{place}"
            subprocess.run(["cp", "--archive", original, data], check=True)
        return data


def first_process(outer: int) -> int:
    """Return the first process of the container that a process has started."""
    return int(Path(f"/proc/{outer}/task/{outer}/children").read_text())


def main(command: str, *arguments: str) -> int:
    """Run a command of podman, and return its exit code."""
    pairs, others = getopt(arguments, "", OPTIONS)
    options = {name.removeprefix("--"): value for name, value in pairs}
    podman = Podman(Path(os.environ["PODMAN_DIRECTORY"]))
    return getattr(podman, command)(options, *others)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
