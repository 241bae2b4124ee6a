"""A plugin of pytest that tells coverage.py which test is running."""

from collections.abc import Iterator

import pytest
from coverage import Coverage

from tests.harness import programs


class _Program(programs.Program):
    def run(self) -> None:
        if (coverage := Coverage.current()) and (test := self._environ.get(TEST)):
            coverage.switch_context(test)
        super().run()


TEST = "PYTEST_CURRENT_TEST"
programs.Program = _Program


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note for each line by which tests it runs."""
    if coverage := Coverage.current():
        coverage.switch_context(item.nodeid)
    return (yield)
