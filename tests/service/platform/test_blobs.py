"""Blobs: the same calls on a folder and on an S3 store; keys are the SHA-256 of the bytes, and nothing half is left."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from service.platform.blobs import BlobMissing, Blobs
from service.platform.problem import Unavailable

BUCKET = "cushion-test"
ACCOUNT = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    endpoint = f"http://127.0.0.1:{port}"
    before = dict(os.environ)
    os.environ.update(ACCOUNT, AWS_ENDPOINT=endpoint)
    store = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    store.create_bucket(Bucket=BUCKET)
    try:
        yield f"s3://{BUCKET}"
    finally:
        store.close()
        os.environ.clear()
        os.environ.update(before)
        server.stop()


@pytest.fixture(params=["folder", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    url = (tmp_path / "store").as_uri() if request.param == "folder" else request.getfixturevalue("s3")
    return Blobs(url, tmp_path / "scratch")


@pytest.mark.parametrize("size", [0, 1, 12_000_000], ids=["empty", "one byte", "in several parts"])
def test_what_goes_in_comes_out(blobs: Blobs, tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    source = tmp_path / "source"
    source.write_bytes(content)

    async def there_and_back() -> tuple[str, bytes]:
        key = await blobs.put(source)
        assert await blobs.put(source) == key  # twice is once
        return key, (await blobs.path(key)).read_bytes()

    key, found = asyncio.run(there_and_back())
    assert key == hashlib.sha256(content).hexdigest()
    assert found == content


def test_a_deleted_blob_is_missing(blobs: Blobs, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"short-lived")

    async def gone() -> None:
        key = await blobs.put(source)
        await blobs.delete(key)
        await blobs.delete(key)  # what is gone may go again
        with pytest.raises(BlobMissing):
            await blobs.path(key)

    asyncio.run(gone())
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_store_that_does_not_answer_is_unavailable(tmp_path: Path, s3: str) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"x")
    with pytest.raises(Unavailable):
        asyncio.run(Blobs("s3://no-such-bucket", tmp_path / "scratch").put(source))
