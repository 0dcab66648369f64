"""What a process checks and clears before it serves."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from service.platform.config import ConfigError, Settings
from service.platform.process import LEFT_SECONDS, check, scratch_folder


def aged(folder: Path, seconds: float) -> Path:
    """A folder with a file in it, as a killed process leaves it."""
    folder.mkdir(parents=True)
    (folder / "file").write_bytes(b"x")
    os.utime(folder, (time.time() - seconds,) * 2)
    return folder


def test_what_a_killed_process_left_in_the_scratch_folder_goes(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    old = aged(scratch / "upload-old", LEFT_SECONDS + 60)
    young = aged(scratch / "parse-young", LEFT_SECONDS - 60)
    copies = aged(scratch / "blobs", 10 * LEFT_SECONDS)
    quick = Settings(data_dir=tmp_path, parse_seconds=60, recalculation_seconds=60, reconciliation_seconds=60)
    assert scratch_folder(quick) == scratch
    assert [path.exists() for path in (old, young, copies)] == [False, True, True]


def test_nothing_goes_that_a_long_run_may_still_need(tmp_path: Path) -> None:
    kept = aged(tmp_path / "scratch" / "parse-long", 2 * LEFT_SECONDS)
    scratch_folder(Settings(data_dir=tmp_path, parse_seconds=LEFT_SECONDS))
    assert kept.exists()


URLS: dict[str, Any] = {"database_url": "postgresql://host/x", "redis_url": "redis://host"}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (URLS, "CUSHION_SECRET_KEY is needed"),
        ({"blob_url": "ftp://host/x"}, "CUSHION_BLOB_URL cannot be used"),
        ({"blob_url": "file:///proc/nothing/here"}, "CUSHION_BLOB_URL cannot be used"),
    ],
)
def test_what_every_process_would_refuse_is_told_at_once(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        check(Settings(**settings))


def test_what_will_do_passes(tmp_path: Path) -> None:
    check(Settings())
    check(Settings(**URLS, secret_key="s" * 32, blob_url=(tmp_path / "blobs").as_uri()))
