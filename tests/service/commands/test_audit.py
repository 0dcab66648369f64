"""The audit command on exports of a running service, whole and tampered with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.conftest import Member

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]


@pytest.fixture(scope="module")
def lines(shared_owner: Member) -> list[bytes]:
    """A tenant's export."""
    for number in range(6):
        response = shared_owner.post(
            "/api/v1/admin/api-keys", json={"name": f"k{number}", "permissions": ["workbooks:read"]}
        )
        assert response.status_code == 201
    answer = shared_owner.get("/api/v1/admin/audit-logs/export", params={"format": "jsonl"})
    assert answer.status_code == 200
    return answer.content.splitlines(keepends=True)


def saved(folder: Path, lines: list[bytes]) -> Path:
    path = folder / "log.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def test_a_whole_log_is_told_so(cushion: Cushion, tmp_path: Path, lines: list[bytes]) -> None:
    answer = cushion("audit", saved(tmp_path, lines))
    last = json.loads(lines[-1])["hash"]
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == f"log.jsonl: 7 entries, 1 to 7: whole, last hash {last}\n"


def test_a_changed_entry_is_named(cushion: Cushion, tmp_path: Path, lines: list[bytes]) -> None:
    changed = [*lines[:3], lines[3].replace(b'"k2"', b'"k9"'), *lines[4:]]
    assert changed != lines
    answer = cushion("audit", saved(tmp_path, changed))
    assert (answer.returncode, answer.stderr) == (1, "")
    assert answer.stdout.splitlines() == [
        "entry 4: the entry is not the one that was hashed",
        "log.jsonl: 7 entries, 1 to 7: broken at entry 4",
    ]


def test_a_left_out_entry_is_named(cushion: Cushion, tmp_path: Path, lines: list[bytes]) -> None:
    path = saved(tmp_path, lines[:2] + lines[3:])
    answer = cushion("audit", path)
    assert answer.returncode == 1
    assert answer.stdout.startswith("entry 4: the entries after number 2 are missing\n")
    assert cushion("audit", path, "--filtered").returncode == 0


def test_a_log_without_its_beginning_is_not_whole(cushion: Cushion, tmp_path: Path, lines: list[bytes]) -> None:
    path = saved(tmp_path, lines[2:])
    answer = cushion("audit", path)
    assert answer.returncode == 1
    assert answer.stdout.startswith("entry 3: the entries before it are missing\n")
    assert cushion("audit", path, "--filtered").returncode == 0


def test_a_log_of_many_breaks_is_not_read_to_its_end(cushion: Cushion, tmp_path: Path, lines: list[bytes]) -> None:
    answer = cushion("audit", saved(tmp_path, [lines[2], lines[1]] * 30))
    assert answer.returncode == 1
    assert len(answer.stdout.splitlines()) == 22
    assert "no further entry" in answer.stdout


def test_what_is_no_log_is_refused(refused: Refusal, tmp_path: Path, lines: list[bytes]) -> None:
    assert "holds no entries" in refused("audit", saved(tmp_path, []))
    assert "line 2 is no entry" in refused("audit", saved(tmp_path, [lines[0], b"{}\n"]))
    assert "line 1 is no entry" in refused("audit", saved(tmp_path, [b"\x00\xff"]))
    twice = lines[0].replace(b'"action":', b'"action":"other","action":')
    assert "given twice" in refused("audit", saved(tmp_path, [twice]))
    assert "longer than" in refused("audit", saved(tmp_path, [b" " * (16 * 1024 * 1024 + 1)]))
    assert "No such file" in refused("audit", tmp_path / "missing.jsonl")
    assert "directory" in refused("audit", tmp_path)
