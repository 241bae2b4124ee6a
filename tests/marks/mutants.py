"""What mutation testing changes: one thing at a time, in one module at a time."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_string

from tests.harness.servers import ROOT

SCOPE = [
    *("petstore/api", "petstore/models", "petstore/quotas"),
    *("petstore/server/request.py", "petstore/storage/engines"),
]


@dataclass(frozen=True)
class Mutant:
    """A module with one change, in the statement that these lines belong to."""

    path: str
    module: cst.Module
    node: cst.CSTNode
    changed: cst.CSTNode
    first_line: int
    last_line: int

    def source(self) -> str:
        """Return the module as it is changed."""
        return self.module.deep_replace(self.node, self.changed).code


def name_of(before: str, after: str) -> str:
    """Return the lines that differ, as `tests/marks/mutants.md` lists them."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    old, new = (
        " ".join(" ".join(line[2:].split()) for line in lines if line[0] == mark)
        for mark in "-+"
    )
    return f"{old} → {new}"


def all_mutants() -> Iterator[Mutant]:
    """Yield each mutant in the scope."""
    for part in SCOPE:
        for path in sorted((ROOT / part).rglob("*.py")) or [ROOT / part]:
            wrapper = MetadataWrapper(cst.parse_module(path.read_text()))
            wrapper.visit(visitor := _Visitor())
            for found in visitor.found:
                yield Mutant(str(path.relative_to(ROOT)), wrapper.module, *found)


class _Visitor(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        self.found: list[tuple[cst.CSTNode, cst.CSTNode, int, int]] = []
        self._first = self._last = 1

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.Import | cst.ImportFrom):
            return False
        if lines := self.get_metadata(PositionProvider, node, None):
            self._last = lines.end.line
            if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
                self._first = lines.start.line
        for kind, operator in [*mutation_operators, *OPERATORS]:
            if isinstance(node, kind):
                for changed in list(operator(node))[: MOST.get(operator)]:
                    self.found.append((node, changed, self._first, self._last))
        return True


def _negated(node: cst.If | cst.While) -> Iterator[cst.CSTNode]:
    test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))


def _returning_none(node: cst.Return) -> Iterator[cst.CSTNode]:
    if node.value and not node.value.deep_equals(cst.Name("None")):
        yield node.with_changes(value=cst.Name("None"))


def _removed(node: cst.Expr) -> Iterator[cst.CSTNode]:
    if not isinstance(node.value, cst.BaseString | cst.Yield):
        yield cst.Pass()


# mutmut does not mutate these statements.
OPERATORS = [
    *((cst.If, _negated), (cst.While, _negated)),
    *((cst.Return, _returning_none), (cst.Expr, _removed)),
]
# A string in other letters is no other mutant than a string with more of them.
MOST = {operator_string: 1}
