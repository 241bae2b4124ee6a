"""Programs in Python that begin as copies of a process with their libraries imported.

To import them is most of what starting the service costs. No module of the service is
among them, and none that reads a variable when it is imported, as prometheus_client
does: each program imports those itself, with its own settings. Nor is a library that
waits, since gevent may have to replace what it imports.
"""

import atexit
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from multiprocessing import get_context, reduction
from types import ModuleType

LIBRARIES = [
    *("apispec.ext.marshmallow", "cryptography.x509", "flask.cli"),
    *("gunicorn.app.wsgiapp", "gunicorn.arbiter", "gunicorn.workers.ggevent"),
    *("dns.message", "httptools", "marshmallow", "mistune", "orjson", "wrapt"),
    "werkzeug.serving",
]

MOST_DESCRIPTORS = 2**16
RUN_SECONDS = 300

_starting = threading.Lock()
_context = get_context("forkserver")
_context.set_forkserver_preload(LIBRARIES)


class Program(_context.Process):
    """A running program, with the methods of `subprocess.Popen`.

    Its command is the name of a module, as for `python -m`, and its arguments.
    """

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        directory: os.PathLike[str],
        outputs: tuple[int, int],
    ) -> None:
        super().__init__()
        self._command, self._environ = list(command), dict(environ)
        self._directory, self._outputs = os.fspath(directory), outputs
        self._start_without_main()

    def _start_without_main(self) -> None:
        """Start without the main module of this process, which the copy would import.

        It may import what gevent has to replace first.
        """
        with _starting:
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                self.start()
            finally:
                sys.modules["__main__"] = main

    def __getstate__(self) -> dict[str, object]:
        # This is how descriptors are sent to the other process.
        return self.__dict__ | {"_outputs": [*map(reduction.DupFd, self._outputs)]}

    def run(self) -> None:
        """Become the program."""
        for number, output in enumerate(self._outputs, start=1):
            os.dup2(output.detach(), number)
        os.closerange(3, MOST_DESCRIPTORS)  # as exec does
        sys.stdout = os.fdopen(1, "w", closefd=False)  # a terminal's lines come at once
        os.environ.clear()
        os.environ.update(self._environ)
        os.chdir(self._directory)
        try:
            sys.argv = self._command
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        finally:
            # A copy, and what it forks, ends without what Python does at its end.
            atexit._run_exitfuncs()

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        return self.exitcode

    def wait(self, seconds: float | None = None) -> int:
        """Wait until the program has ended; return its exit code."""
        self.join(seconds)
        if self.exitcode is None:
            raise subprocess.TimeoutExpired(self._command, seconds)
        return self.exitcode


def run(
    command: Sequence[str], environ: Mapping[str, str], directory: os.PathLike[str]
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return what it printed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        outputs = (out.fileno(), err.fileno())
        program = Program(command, environ, directory, outputs)
        try:
            code = program.wait(RUN_SECONDS)
        finally:
            program.kill()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), err.read())
