"""Clients of openapi-generator in six languages, as docs/api.md says, read names."""

import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.harness.generators import NAMES, commands_in_docs, names_read

READERS = "tests/together/clients/readers"
# Jackson, which a client in Java takes, is within the generator.
[PACKAGE] = find_spec("openapi_generator_cli").submodule_search_locations
ANNOTATIONS = "/usr/share/java/geronimo-annotation-1.3-spec.jar"
CLASSES = f"--class-path {PACKAGE}/openapi-generator.jar:{ANNOTATIONS}:classes"
TSC = "node_modules/.bin/tsc --strict --skipLibCheck --module node16 --target es2022"
EACH_PHP = "find php/lib -name '*.php' | xargs --max-args=1 php --syntax-check"
JAVA = f"javac -d classes {CLASSES} Reader.java $(find java/src/main -name '*.java')"
# How the client in each language is compiled and run, in a shell.
COMPILE_AND_READ = {
    "python": "PYTHONPATH=python python -W error reader.py",
    "typescript-fetch": f"{TSC} --types node reader.ts && node reader.js",
    "ruby": "ruby -I ruby/lib reader.rb",
    "php": f"{EACH_PHP} && php reader.php",
    "go": "cd go && go vet . ./reader && go run ./reader",
    "java": f"{JAVA} && java {CLASSES} Reader",
}


@pytest.mark.parametrize("language", COMPILE_AND_READ)
def test_names_in_all_scripts_are_read(sqlite_url: str, tmp_path: Path, language: str):
    generate = commands_in_docs(f"openapi-generator-cli, {language}")
    commands = [*generate, shlex.join(["sh", "-c", COMPILE_AND_READ[language]])]
    assert names_read(sqlite_url, tmp_path, READERS, commands) == NAMES
