"""Blobs: by the hash of their bytes, written twice without harm, never half there."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import resource
from pathlib import Path

import pytest

from service.platform.blobs import BlobMissing, Blobs, hash_of


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs((tmp_path / "a folder").as_uri(), tmp_path / "scratch")


def test_a_blob_comes_back_under_its_hash(blobs: Blobs, tmp_path: Path) -> None:
    content = os.urandom(9 << 20)  # past the size where it goes up in parts
    (tmp_path / "file").write_bytes(content)

    async def walk() -> tuple[str, bytes]:
        key = await blobs.put(tmp_path / "file")
        assert await blobs.put(tmp_path / "file", key) == key
        return key, (await blobs.path(key)).read_bytes()

    key, back = asyncio.run(walk())
    assert key == hashlib.sha256(content).hexdigest()
    assert back == content


def test_many_writers_of_one_blob(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)

    async def walk() -> list[str]:
        return await asyncio.gather(*(blobs.put(tmp_path / "file") for _ in range(20)))

    (key,) = set(asyncio.run(walk()))
    assert asyncio.run(blobs.path(key)).read_bytes() == b"x" * 100_000
    assert len([path for path in (tmp_path / "a folder").rglob("*") if path.is_file()]) == 1


def test_an_empty_blob(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    key = asyncio.run(blobs.put(tmp_path / "file"))
    assert asyncio.run(blobs.path(key)).read_bytes() == b""


def test_what_is_not_there_is_missing_and_deleting_it_is_fine(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")

    async def walk() -> None:
        key = await blobs.put(tmp_path / "file")
        for _ in range(2):
            await blobs.delete(key)
            with pytest.raises(BlobMissing):
                await blobs.path(key)

    asyncio.run(walk())


def test_putting_a_large_file_takes_little_memory(blobs: Blobs, tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(200 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    asyncio.run(blobs.put(tmp_path / "file"))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 120 << 10  # kilobytes


def test_hashing_leaves_the_file_where_it_was() -> None:
    file = io.BytesIO(b"abcdef")
    file.seek(2)
    assert hash_of(file) == hashlib.sha256(b"cdef").hexdigest()
    assert file.tell() == 2


@pytest.mark.parametrize("url", ["ftp://host/x", "nonsense", "s3://", "file:folder", "file://host/folder", "az://box"])
def test_a_url_that_names_no_place_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]{10,200}$"):
        Blobs(url, tmp_path)
