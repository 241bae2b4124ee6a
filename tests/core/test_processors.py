"""The number of workers follows what a control group allows."""

import os
from pathlib import Path

import pytest

from petstore import settings
from petstore.settings import usable_processors

CORES = 8
OWN = "0::/service.slice/petstore\n"


@pytest.mark.parametrize(
    ("own", "files", "count"),
    [
        (OWN, {"service.slice/petstore/cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "400000 100000\n"}, 4),
        ("0::/\n", {"cpu.max": "max 100000\n"}, CORES),
        (OWN, {}, CORES),
        ("4:cpu,cpuacct:/docker/1\n", {}, CORES),
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
    monkeypatch.setattr(settings, "OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)))
    if own:
        (tmp_path / "own").write_text(own)
    for path, text in files.items():
        file = tmp_path / "groups" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert usable_processors() == count
