"""Object code is read only from a folder and a file that nobody else can write, and only whole."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from core.native import folder
from core.native.folder import FolderRefused

KEY, OTHER_KEY, THIRD_KEY = folder.key_of("a", "b"), folder.key_of("ab"), folder.key_of("c")


def put(path: Path, key: bytes, code: bytes) -> None:
    with folder.opened(path) as place, folder.locked(place):
        folder.write(place, key, code)


def get(path: Path, key: bytes) -> bytes | None:
    with folder.opened(path) as place:
        return folder.read(place, key)


def test_what_is_written_is_read_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "native"
    put(path, KEY, b"code")
    assert (get(path, KEY), get(path, OTHER_KEY)) == (b"code", None)
    assert path.stat().st_mode & 0o777 == 0o700
    assert {each.stat().st_mode & 0o777 for each in path.iterdir()} == {0o600}
    assert KEY != OTHER_KEY


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o720])
def test_a_folder_that_is_open_to_others_is_refused(mode: int, tmp_path: Path) -> None:
    put(tmp_path / "native", KEY, b"code")
    (tmp_path / "native").chmod(mode)
    with pytest.raises(FolderRefused, match="go-rwx"):
        get(tmp_path / "native", KEY)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "real", KEY, b"code")
    (tmp_path / "native").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="native"):
        get(tmp_path / "native", KEY)


def test_another_users_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "native", KEY, b"code")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(FolderRefused, match="another user"):
        get(tmp_path / "native", KEY)


def test_a_file_that_is_open_to_others_is_written_anew_and_a_link_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, KEY, b"code")
    file = tmp_path / f"{KEY.hex()}.o"
    (tmp_path / f"{OTHER_KEY.hex()}.o").symlink_to(file)
    assert get(tmp_path, OTHER_KEY) is None
    file.chmod(0o620)
    assert get(tmp_path, KEY) is None
    put(tmp_path, KEY, b"code")
    assert get(tmp_path, KEY) == b"code"
    (tmp_path / f"{THIRD_KEY.hex()}.o").mkdir()
    files = len(os.listdir("/proc/self/fd"))
    assert get(tmp_path, THIRD_KEY) is None
    assert len(os.listdir("/proc/self/fd")) == files


def test_a_torn_or_renamed_file_is_not_read(tmp_path: Path) -> None:
    put(tmp_path, KEY, b"code" * 100)
    file = tmp_path / f"{KEY.hex()}.o"
    whole = file.read_bytes()
    for content in (whole[:-1], whole[:40], b"", whole[:-1] + b"x", whole + b"x"):
        file.write_bytes(content)
        assert get(tmp_path, KEY) is None
    file.write_bytes(whole)
    assert get(tmp_path, KEY) == b"code" * 100
    file.rename(tmp_path / f"{OTHER_KEY.hex()}.o")
    assert get(tmp_path, OTHER_KEY) is None


def test_the_oldest_files_go_and_drafts_of_the_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "FILES_MAX", 3)
    keys = [folder.key_of(str(at)) for at in range(5)]
    (tmp_path / "x.draft").touch()
    for at, key in enumerate(keys):
        put(tmp_path, key, b"code")
        os.utime(tmp_path / f"{key.hex()}.o", (at, at))
    assert [get(tmp_path, key) is not None for key in keys] == [False, False, True, True, True]
    assert not (tmp_path / "x.draft").exists()
    monkeypatch.setattr(folder, "BYTES_MAX", 900)
    put(tmp_path, KEY, b"c" * 700)
    assert [get(tmp_path, key) is not None for key in (*keys, KEY)] == [False] * 4 + [True, True]


def test_an_object_of_any_size_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "OBJECT_BYTES_MAX", 200)
    with pytest.raises(OSError, match="200 bytes"):
        put(tmp_path, KEY, b"c" * 200)


def test_one_writes_at_a_time(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def write() -> None:
        with folder.opened(tmp_path) as place, folder.locked(place):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            folder.write(place, KEY, b"code")
            inside[0] -= 1

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_the_place_is_the_users_cache_unless_a_program_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_place", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder.place() == tmp_path / "cushion/native"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert folder.place() == Path.home() / ".cache/cushion/native"
    folder.use(tmp_path)
    assert folder.place() == tmp_path
