"""A host with an empty Debian, on which the commands of a page run as they are printed.

It is this machine in namespaces of its own: nobody else sees its processes, ports and
mounts, and all of it is gone with its first process. Debian's own programs run there,
except those that need the network or systemd; `stand_ins.py` plays these.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Timer
from typing import IO

import psutil

from tests.harness.servers import ROOT, children_of

STAND_INS = Path(__file__).with_name("stand_ins.py")
SEPARATE = ("--mount", "--net", "--pid")
PATH = "/run/stand-ins:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DONE = "that was all"
PATIENCE_SECONDS = 120  # for the commands that are run at once


class Host:
    """A running host, with a shell of root that goes on from command to command."""

    def __init__(self, process: subprocess.Popen, errors: IO[str]) -> None:
        self._process, self._errors = process, errors
        [init] = children_of(psutil.Process(process.pid))
        self._shell = subprocess.Popen(
            ["nsenter", f"--target={init.pid}", *SEPARATE, "bash", "-eu"],
            env={"PATH": PATH, "HOME": "/root"},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def run(self, commands: str) -> str:
        """Run commands, each of which must succeed; return what is on stdout."""
        # The commands must not read those that follow.
        given = f"{{\n{commands}\n}} < /dev/null\nprintf '\\n{DONE}\\n'\n"
        patience = Timer(PATIENCE_SECONDS, self._process.kill)
        patience.start()
        try:
            self._shell.stdin.write(given)
            self._shell.stdin.flush()
            printed = []
            for line in self._shell.stdout:
                if line == f"{DONE}\n":
                    return "".join(printed).removesuffix("\n")
                printed.append(line)
        finally:
            patience.cancel()
        self._errors.seek(0)
        raise AssertionError(f"{commands}\n{''.join(printed)}{self._errors.read()}")

    def close(self) -> None:
        """End the shell."""
        self._shell.stdin.close()
        self._shell.wait()
        self._shell.stdout.close()


@contextmanager
def empty_host() -> Iterator[Host]:
    """Run a host for the duration of the block; for root alone."""
    assert os.geteuid() == 0, "only root can make a host; run `make e2e` as root"
    command = ["setpriv", "--pdeathsig=KILL", "unshare", *SEPARATE, "--mount-proc"]
    command += ["--fork", "--kill-child"]
    command += [sys.executable, str(STAND_INS), "init", str(ROOT)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
    ):
        try:
            assert process.stdout.readline() == "ready\n"
            with closing(Host(process, errors)) as host:
                yield host
        finally:
            process.kill()  # and with it all that runs in the host
