"""The number of workers follows what a control group allows."""

import os
from pathlib import Path

import pytest

from petstore import settings
from petstore.settings import usable_processors

CORES = 8
BY_VERSION_2 = "0::/service.slice/petstore\n"
BY_VERSION_1 = "5:memory:/other\n4:cpu,cpuacct:/docker/1\n0::/\n"
QUOTA_1 = {"cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"}


@pytest.mark.parametrize(
    ("own", "files", "count"),
    [
        (BY_VERSION_2, {"service.slice/petstore/cpu.max": "150000 100000\n"}, 2),
        (BY_VERSION_2, {"cpu.max": "max 100000\n"}, CORES),
        (BY_VERSION_1, QUOTA_1, 4),
        (BY_VERSION_2, {}, CORES),
        (None, {}, CORES),
    ],
)
def test_quota_of_a_control_group_counts(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    own: str | None,
    files: dict[str, str],
    count: int,
):
    monkeypatch.setattr(settings, "CONTROL_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(settings, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)))
    if own:
        (tmp_path / "own").write_text(own)
    for path, text in files.items():
        file = tmp_path / "groups" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert usable_processors() == count
