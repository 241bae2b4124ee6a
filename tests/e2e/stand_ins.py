"""Plays apt-get and systemd inside the namespaces of an empty host; see empty_host.py.

Runs as `python stand_ins.py PROGRAM ARGUMENT …`, without anything from this repository.
"""

import fcntl
import os
import pwd
import re
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from string import Template

HERE = Path("/run/stand-ins")  # on the PATH of who installs the service
PROGRAMS = ("apt-get", "python3", "systemctl", "systemd-run")
UNITS = [Path("/etc/systemd/system"), Path("/lib/systemd/system")]
LOGS = Path("/var/log/units")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PATIENCE_SECONDS = 60
# What Debian's packages have made on this machine is not there on an empty host.
EMPTIED = ("postgresql", "redis")
SET_FLAGS, FLAG_UP = 0x8914, 0x1 | 0x40  # SIOCSIFFLAGS, IFF_UP and IFF_RUNNING
# The tests' Python may lie where only root looks, so units may read everything.
READING = "CAP_DAC_READ_SEARCH"

Properties = dict[str, list[str]]


def init(source: str) -> None:
    """Make the host out of this machine, and stay its first process."""
    with socket.socket() as any_socket:
        request = struct.pack("16sh", b"lo", FLAG_UP)
        fcntl.ioctl(any_socket, SET_FLAGS, request)
    aside = Path("/mnt")
    mount("-t", "tmpfs", "aside", aside)
    subprocess.run(["cp", "-a", "/etc", aside], check=True)
    mount("--bind", aside / "etc", "/etc")
    for place in ("/opt", "/srv", "/var/lib", "/var/log", "/var/www"):
        cover(Path(place), aside / place.replace("/", "-"))
    mount("-t", "tmpfs", "run", "/run")
    shutil.rmtree("/etc/postgresql", ignore_errors=True)
    Path("/run/postgresql").mkdir()
    shutil.chown("/run/postgresql", "postgres", "postgres")
    with Path("/etc/gitconfig").open("a") as config:
        config.write(f'[safe]\ndirectory = *\n[url "{source}"]\n')
        config.write("insteadOf = https://git.example.org/petstore.git\n")
    with Path("/etc/hosts").open("a") as hosts:
        hosts.write("127.0.0.1 localhost api.example.org\n")
    HERE.mkdir()
    for name in PROGRAMS:
        command = shlex.join([sys.executable, str(Path(__file__).resolve()), name])
        (HERE / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (HERE / name).chmod(0o755)
    LOGS.mkdir()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no orphan stays a zombie
    print("ready", flush=True)
    while True:
        signal.pause()


def mount(*arguments: object) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def cover(place: Path, aside: Path) -> None:
    """Let what is written in a directory of this machine stay in the host."""
    aside.mkdir()
    mount("--bind", place, aside)
    mount("-t", "tmpfs", "-o", "mode=755", "covered", place)
    for old in aside.iterdir():
        new = place / old.name
        if old.is_symlink():
            new.symlink_to(old.readlink())
        elif old.is_file():
            new.touch()
        elif old.is_dir():
            new.mkdir()
            shutil.copystat(old, new)
            owner = old.stat()
            os.chown(new, owner.st_uid, owner.st_gid)
            if old.name not in EMPTIED and place != Path("/var/log"):
                mount("--bind", old, new)


def apt_get(*words: str) -> int:
    """Install packages that are there already: do what they do when they are new."""
    assert words[:2] == ("install", "--yes"), words
    for package in words[2:]:
        assert Path("/usr/share/doc", package).exists(), f"{package} is not installed"
        if package == "postgresql":
            [*_, version] = sorted(os.listdir("/usr/lib/postgresql"))
            create = ["pg_createcluster", version, "main", "--start"]
            subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
        elif package in ("caddy", "nginx", "redis-server"):
            start(package)
    return 0


def python3(*words: str) -> int:
    """Make a virtual environment that has what the tests have, and installs nothing.

    For the release before, that is what it requires itself.
    """
    if words[:2] == ("-m", "venv"):
        programs, installed = Path(words[2], "bin"), Path(sys.prefix)
        before = installed / "before"
        required = Path(words[2]).parent / "requirements.txt"
        if required.read_text() == (before / "requirements.txt").read_text():
            installed = before / ".venv"
        programs.mkdir(parents=True)
        for there in installed.iterdir():
            if there.name != "bin":
                (programs.parent / there.name).symlink_to(there)
        for program in (installed / "bin").iterdir():
            real = Path("/bin/true") if program.name == "pip" else program
            (programs / program.name).symlink_to(real)
        return 0
    os.execv("/usr/bin/python3", ["python3", *words])


def systemctl(verb: str, *words: str) -> int:
    names = [word for word in words if not word.startswith("-")]
    for name in names:
        read_unit(name)  # it must be there
        if verb == "enable" and ("--now" not in words or name.endswith(".timer")):
            continue
        if verb == "reload":
            reload(name)
        if verb in ("stop", "restart"):
            stop(name)
        if verb in ("enable", "start", "restart") and (failed := start(name)):
            print(f"Job for {name} failed; see systemctl status", file=sys.stderr)
            return failed
    return 0


def systemd_run(*words: str) -> int:
    """Run a command with the properties that are given, as -p NAME=VALUE."""
    properties: Properties = {}
    rest = list(words)
    while rest[0].startswith("-"):
        if (word := rest.pop(0)) == "-p":
            name, _, value = rest.pop(0).partition("=")
            properties.setdefault(name, []).append(value)
        else:
            assert word in ("--pipe", "--wait", "--quiet"), word
    return subprocess.run(**process_of(properties, rest), check=False).returncode


def read_unit(name: str) -> Properties:
    """Return the [Service] section of a unit, by name."""
    file = name if "." in name else f"{name}.service"
    [text, *_] = [(at / file).read_text() for at in UNITS if (at / file).exists()]
    properties: Properties = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and not line.startswith("#") and "=" in line:
            key, _, value = line.partition("=")
            properties.setdefault(key, []).append(value)
    return properties


def start(name: str) -> int:
    """Start a unit; return its exit code, or 0 once it has told that it is ready."""
    unit = read_unit(name)
    make_directories(unit)
    commands = [*unit.get("ExecStartPre", []), *unit["ExecStart"]]
    *before, last = [process_of(unit, shlex.split(line)) for line in commands]
    with (LOGS / name).open("ab") as log:
        for process in before:
            subprocess.run(**process, stdout=log, stderr=log, check=True)
        if unit["Type"] != ["notify"]:
            last |= {"stdout": log, "stderr": log}
            return subprocess.run(check=False, **last).returncode
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            notified.bind(f"\0{name}")
            notified.settimeout(PATIENCE_SECONDS)
            last["env"] |= {"NOTIFY_SOCKET": f"@{name}"}
            process = subprocess.Popen(**last, stdout=log, stderr=log)
            while b"READY=1" not in notified.recv(4096):
                pass
    Path("/run", f"{name}.main").write_text(str(process.pid))
    return 0


def make_directories(unit: Properties) -> None:
    user = pwd.getpwnam(unit.get("User", ["root"])[0])
    for parent, key in (("/var/lib", "StateDirectory"), ("/run", "RuntimeDirectory")):
        for name in " ".join(unit.get(key, [])).split():
            directory = Path(parent, name)
            directory.mkdir(exist_ok=True)
            os.chown(directory, user.pw_uid, user.pw_gid)
            [mode] = unit.get(f"{key}Mode", ["0755"])
            directory.chmod(int(mode, 8))


def process_of(unit: Properties, command: list[str]) -> dict:
    """Return what `subprocess` has to know of a command of a unit."""
    environ = {"PATH": SYSTEM_PATH, "PYTHONDONTWRITEBYTECODE": "1"}
    environ |= assignments(" ".join(unit.get("Environment", [])))
    for file in unit.get("EnvironmentFile", []):
        environ |= assignments(Path(file.removeprefix("-")).read_text())
    [user] = unit.get("User", ["root"])
    if user != "root":
        ids = [f"--reuid={user}", f"--regid={user}", "--init-groups"]
        command = ["setpriv", *ids, *capabilities_of(unit), "--", *command]
    home = pwd.getpwnam(user).pw_dir
    return {
        "args": [Template(word).safe_substitute(environ) for word in command],
        "env": environ | {"USER": user, "HOME": home},
        "cwd": unit.get("WorkingDirectory", ["/"])[0],
        "umask": int(unit.get("UMask", ["0022"])[0], 8),
    }


def capabilities_of(unit: Properties) -> list[str]:
    names = f"{READING} {' '.join(unit.get('AmbientCapabilities', []))}".split()
    kept = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in names)
    return [f"--inh-caps={kept}", f"--ambient-caps={kept}"]


def assignments(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in shlex.split(text, comments=True))


def stop(name: str) -> None:
    process = os.pidfd_open(main_process(name))
    signal.pidfd_send_signal(process, signal.SIGTERM)
    has_ended, _, _ = select.select([process], [], [], PATIENCE_SECONDS)
    assert has_ended, f"{name} goes on"


def reload(name: str) -> None:
    unit = read_unit(name)
    unit["Environment"] = [
        *unit.get("Environment", []),
        f"MAINPID={main_process(name)}",
    ]
    command = shlex.split(unit["ExecReload"][0])
    subprocess.run(**process_of(unit | {"User": ["root"]}, command), check=True)


def main_process(name: str) -> int:
    [file] = read_unit(name).get("PIDFile", [f"/run/{name}.main"])
    return int(
        (Path(file) if Path(file).exists() else Path(f"/run/{name}.main")).read_text()
    )


if __name__ == "__main__":
    program = globals()[re.sub("-", "_", sys.argv[1])]
    sys.exit(program(*sys.argv[2:]))
