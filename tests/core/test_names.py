"""Names say what they stand for: none says as little as `data`, but for a few."""

import ast
import re
from collections.abc import Iterator

from tests.harness.servers import ROOT

SAY_NOTHING = {"data", "helpers", "info", "manager", "service", "told", "utils"}
# What others call so, and the service therefore calls so too.
ALLOWED = {
    "data",  # the command `flask data`
    "form_data_parser_class",  # Werkzeug looks it up
    "_exc_info",  # of a WSGI server
}


def defined_names() -> Iterator[str]:
    """Yield the name of each file, class, function, argument and variable."""
    for path in (ROOT / "petstore").rglob("*.py"):
        yield path.stem
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield node.name
            elif isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def words_of(name: str) -> set[str]:
    return {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)}


def test_no_name_says_nothing():
    names = {name for name in defined_names() if words_of(name) & SAY_NOTHING}
    assert names <= ALLOWED  # an extension may be deleted
