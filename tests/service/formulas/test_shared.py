"""Where a process of the service keeps compiled loops."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from core.native import folder
from service.formulas.shared import keep_compiled
from service.platform.config import Settings


@pytest.fixture(autouse=True)
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_place", None)


def test_loops_are_kept_in_the_data_folder(tmp_path: Path) -> None:
    with capture_logs() as lines:
        keep_compiled(Settings(data_dir=tmp_path))
    assert (folder.place(), lines) == (tmp_path / "native", [])
    assert (tmp_path / "native").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_is_named_in_the_log(tmp_path: Path) -> None:
    (tmp_path / "native").mkdir()
    (tmp_path / "native").chmod(0o770)
    with capture_logs() as lines:
        keep_compiled(Settings(data_dir=tmp_path))
    assert [line["event"] for line in lines] == ["formulas.not_compiled"]
    assert "go-rwx" in lines[0]["reason"]


def test_without_a_data_folder_it_is_the_users_cache() -> None:
    keep_compiled(Settings())
    assert folder._place is None
