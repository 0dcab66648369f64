"""Unfinished files: gone at whichever moment a run is interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.commands.draft import drafts

INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from service.commands.draft import drafts

signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt(_, event, what):
    if event == "c_return" and what is os.mkdir:
        signal.raise_signal(signal.SIGINT)

sys.setprofile(interrupt)
try:
    with drafts(Path(sys.argv[1])):
        print("begun")
except KeyboardInterrupt:
    print("interrupted", signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""


def test_a_finished_file_stays_and_the_rest_goes(tmp_path: Path) -> None:
    with drafts(tmp_path) as folder:
        assert folder.parent == tmp_path
        (folder / "whole").write_text("whole")
        (folder / "half").write_text("ha")
        (folder / "whole").replace(tmp_path / "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


def test_what_goes_wrong_leaves_nothing(tmp_path: Path) -> None:
    def broken_off() -> None:
        with drafts(tmp_path) as folder:
            (folder / "half").write_text("ha")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_the_folder_is_made_waits_until_somebody_holds_it(tmp_path: Path) -> None:
    """It comes when the folder is there and nobody knows of it yet, and no later one is held back."""
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, tmp_path],
        capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[3], env=dict(os.environ),
    )  # fmt: skip
    assert (ended.stdout, ended.stderr, ended.returncode) == ("interrupted set()\n", "", 0)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_made_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), drafts(tmp_path / "nowhere"):
        pass
