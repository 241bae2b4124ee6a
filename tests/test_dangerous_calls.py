"""What the service does not call, since input could get into it."""

import ast
import re
from pathlib import Path

import petstore

PACKAGE = Path(petstore.__file__).parent
MODULES = {
    *("subprocess", "pty", "multiprocessing", "ctypes", "code", "runpy"),
    *("pickle", "marshal", "shelve", "dill", "yaml", "xml", "lxml", "zipfile"),
}
CALLS = {
    *("eval", "exec", "compile", "__import__", "system", "popen", "fork"),
    *("execv", "execve", "execvp", "spawnv", "posix_spawn", "render_template_string"),
}
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\("
)
# Locks have numbers made with BLAKE2.
HASH = r"\b(?:hashlib\.|from hashlib import )(\w+)"
HASHES = {"sha256", "blake2b"}


def used_in(path: Path) -> set[str]:
    """Return the modules that a file imports and the functions that it calls."""
    used = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            used |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            used.add(node.module.partition(".")[0])
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call):
            used.add(ast.unparse(node.func).removeprefix("os."))
    return used


def test_service_runs_no_program_no_text_as_code_and_no_stored_object():
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in PACKAGE.rglob("*.py")
        for name in used_in(path) & (MODULES | CALLS)
    }
    assert not found


def test_scripts_of_pages_make_no_markup_of_texts():
    scripts = list(PACKAGE.rglob("*.js"))
    assert len(scripts) > 3
    for script in scripts:
        assert not MARKUP.search(script.read_text()), script


def test_cryptography_is_that_of_python_and_its_libraries():
    texts = [path.read_text() for path in PACKAGE.rglob("*.py")]
    used = {name for text in texts for name in re.findall(HASH, text)}
    assert used == HASHES
