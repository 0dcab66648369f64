"""Scratch folders: their owner's while it lives, swept when it was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from service.platform.data.scratch import clear, folder_for, folder_of, sweep

ROOT = Path(__file__).parents[4]
OLD_SECONDS = 1000

HOLD = """
import sys
from pathlib import Path
from service.platform.data.scratch import folder_for

with folder_for(Path(sys.argv[1]), "upload") as folder:
    (folder / "file").write_bytes(b"x")
    print(folder, flush=True)
    sys.stdin.read()
"""


def aged(path: Path) -> Path:
    os.utime(path, (time.time() - OLD_SECONDS,) * 2)
    return path


def test_a_killed_process_s_folder_goes_and_a_living_one_s_stays(tmp_path: Path) -> None:
    """However old they are.

    A long run's folder is as old as that of a process killed when it began.
    """
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    processes = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    killed, living = (aged(Path(process.stdout.readline().strip())) for process in processes if process.stdout)
    processes[0].kill()
    processes[0].wait()
    assert sweep(tmp_path, older_than_seconds=OLD_SECONDS / 2, keep=tmp_path / "blobs") == [killed.name]
    assert [killed.exists(), living.exists()] == [False, True]
    clear(tmp_path, "upload")
    assert living.exists()
    processes[1].communicate()
    assert not living.exists()
    processes[0].communicate()


def test_what_is_young_or_to_be_kept_stays(tmp_path: Path) -> None:
    (tmp_path / "upload-young").mkdir()
    (tmp_path / "blobs").mkdir()
    aged(tmp_path / "blobs")
    os.mkfifo(tmp_path / "pipe")
    assert sweep(tmp_path, older_than_seconds=OLD_SECONDS / 2, keep=tmp_path / "blobs") == []
    aged(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "blobs")
    assert sweep(tmp_path, older_than_seconds=OLD_SECONDS / 2, keep=tmp_path / "blobs") == ["pipe"]
    assert (tmp_path / "blobs").exists()


@pytest.mark.parametrize("ends", ["well", "badly"])
def test_a_run_leaves_nothing_and_finds_nothing_of_a_killed_one(tmp_path: Path, ends: str) -> None:
    (tmp_path / "parse-1-abandoned").mkdir()
    try:
        with folder_of(tmp_path, "parse-1") as folder, folder_for(tmp_path, "parse-2") as other_path:
            (folder / "file").write_bytes(b"x")
            assert sorted(tmp_path.iterdir()) == sorted([folder, other_path])
            if ends == "badly":
                raise RuntimeError(ends)
    except RuntimeError:
        pass
    assert list(tmp_path.iterdir()) == []
