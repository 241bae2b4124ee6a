"""The modules of the package, and what they import."""

import ast
from functools import cache

from tests.harness.servers import ROOT

SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(
        ".__init__"
    ): path.read_text()
    for path in sorted((ROOT / "petstore").rglob("*.py"))
}


@cache
def imported(module: str) -> set[str]:
    """Return the full name of every import, for type checkers as well."""
    names = set()
    for node in ast.walk(ast.parse(SOURCES[module])):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def extension_of(module: str) -> str | None:
    """Return the extension that a module belongs to; None for the core."""
    _, *parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "extensions" else None
