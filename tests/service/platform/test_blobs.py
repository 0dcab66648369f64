"""Blobs, in a folder and on an S3 store: by the hash of their bytes, written twice without harm, never half there."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from service.platform.blobs import BlobMissing, Blobs, hash_of
from service.platform.problem import Unavailable

ROOT = Path(__file__).parents[3]
BUCKET = "cushion-test"
ACCOUNT = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The URL of a bucket; where it is and who asks stands in the environment, as for a service."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    endpoint = f"http://127.0.0.1:{port}"
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {**ACCOUNT, "AWS_ALLOW_HTTP": "true", "AWS_ENDPOINT": endpoint}.items():
            environment.setenv(name, value)
        client = boto3.client("s3", endpoint_url=endpoint)
        client.create_bucket(Bucket=BUCKET)
        client.close()
        yield f"s3://{BUCKET}/prefix"
    server.stop()


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs((tmp_path / "a folder").as_uri(), tmp_path / "scratch")


@pytest.fixture(params=["folder", "s3"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """A store of each kind; copies of a remote one's blobs go to `scratch`."""
    url = (tmp_path / "a folder").as_uri() if request.param == "folder" else request.getfixturevalue("s3")
    return Blobs(url, tmp_path / "scratch")


def test_a_blob_comes_back_under_its_hash(either: Blobs, tmp_path: Path) -> None:
    content = os.urandom(9 << 20)  # past the size where it goes up in parts
    (tmp_path / "file").write_bytes(content)

    async def walk() -> tuple[str, bytes]:
        key = await either.put(tmp_path / "file")
        assert await either.put(tmp_path / "file", key) == key
        return key, (await either.path(key)).read_bytes()

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


def test_an_empty_blob(either: Blobs, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    async def walk() -> bytes:
        return (await either.path(await either.put(tmp_path / "file"))).read_bytes()

    assert asyncio.run(walk()) == b""


def test_what_is_not_there_is_missing_and_deleting_it_is_fine(either: Blobs, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")

    async def walk() -> None:
        key = await either.put(tmp_path / "file")
        for _ in range(2):
            await either.delete(key)
            with pytest.raises(BlobMissing):
                await either.path(key)

    asyncio.run(walk())
    assert list((tmp_path / "scratch").iterdir()) == [], "a fetch that failed leaves nothing behind"


def test_a_remote_blob_is_fetched_once(s3: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    remote = Blobs(s3, tmp_path / "scratch")

    async def walk() -> tuple[Path, Path]:
        key = await remote.put(tmp_path / "file")
        first = await remote.path(key)
        await remote.delete(key)
        return first, await remote.path(key)

    first, second = asyncio.run(walk())
    assert first == second
    assert first.read_bytes() == b"x" * 100_000
    assert list((tmp_path / "scratch").iterdir()) == [first]


def test_a_store_that_refuses_is_unavailable(s3: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(Unavailable):
        asyncio.run(Blobs("s3://no-such-bucket", tmp_path / "scratch").put(tmp_path / "file"))


PUT = """
import asyncio, resource, sys
from pathlib import Path
from service.platform.blobs import Blobs

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

folder = Path(sys.argv[1])
blobs = Blobs((folder / "store").as_uri(), folder / "scratch")
before = peak()
asyncio.run(blobs.put(folder / "file"))
print(peak() - before)
"""


def test_putting_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    """In a process of its own: the peak of this one may lie far above already."""
    with (tmp_path / "file").open("wb") as file:
        file.truncate(200 << 20)
    grown = subprocess.run(
        [sys.executable, "-c", PUT, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(grown.stdout) < 120 << 10  # kilobytes


def test_hashing_leaves_the_file_where_it_was() -> None:
    file = io.BytesIO(b"abcdef")
    file.seek(2)
    assert hash_of(file) == hashlib.sha256(b"cdef").hexdigest()
    assert file.tell() == 2


@pytest.mark.parametrize("url", ["ftp://host/x", "nonsense", "s3://", "file:folder", "file://host/folder", "az://box"])
def test_a_url_that_names_no_place_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]{10,200}$"):
        Blobs(url, tmp_path)
