"""Blobs, in a folder and on an S3 store.

By the hash of their bytes, written twice without harm, never half there.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
import structlog
from moto.server import ThreadedMotoServer

from service.platform.base.problem import Unavailable
from service.platform.data import blobs as blob_store
from service.platform.data.blobs import Blobs, Damaged, hash_of

ROOT = Path(__file__).parents[4]
BUCKET = "cushion-test"
ACCOUNT = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The URL of a bucket.

    Where it is and who asks stands in the environment, as for a service.
    """
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
        (tmp_path / "file").write_bytes(b"another, so that the store is not empty")
        await either.put(tmp_path / "file")
        for _ in range(2):
            await either.delete(key)
            with pytest.raises(Damaged):
                await either.path(key)
            with pytest.raises(Damaged):
                await either.check(key)

    asyncio.run(walk())
    assert list((tmp_path / "scratch").iterdir()) == [], "a fetch that failed leaves nothing behind"


def test_a_remote_blob_is_fetched_once(s3: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    remote = Blobs(s3, tmp_path / "scratch")

    async def walk() -> tuple[Path, Path]:
        key = await remote.put(tmp_path / "file")
        first = await remote.path(key)
        await Blobs(s3, tmp_path / "elsewhere").delete(key)
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
from service.platform.data.blobs import Blobs

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


def _stored(store: Path, key: str) -> Path:
    return store / key[:2] / key


def test_no_bytes_are_given_out_that_are_not_those_of_their_key(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)

    async def walk() -> None:
        key = await blobs.put(tmp_path / "file")
        path = await blobs.path(key)
        for content in (b"x" * 99_999 + b"y", b"x" * 99_999, b""):
            times = path.stat().st_atime_ns, path.stat().st_mtime_ns
            path.write_bytes(content)
            os.utime(path, ns=times)  # as a disk would alter it, which tells nobody
            with pytest.raises(Damaged, match=key):
                await blobs.path(key)
            with pytest.raises(Damaged, match=key):
                await blobs.check(key)
            assert await blobs.put(tmp_path / "file") == key
            assert await blobs.path(key) == path, "whoever puts the same bytes again mends them"
            assert await blobs.check(key) == 100_000

    asyncio.run(walk())


def test_a_copy_of_a_remote_blob_that_was_altered_is_fetched_anew(s3: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    remote = Blobs(s3, tmp_path / "scratch")

    async def walk() -> bytes:
        path = await remote.path(await remote.put(tmp_path / "file"))
        path.write_bytes(b"y" * 100_000)
        return (await remote.path(path.name)).read_bytes()

    assert asyncio.run(walk()) == b"x" * 100_000


def test_remote_bytes_that_were_altered_are_refused(s3: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    remote = Blobs(s3, tmp_path / "scratch")
    key = asyncio.run(remote.put(tmp_path / "file"))
    client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT"])
    client.put_object(Bucket=BUCKET, Key=f"prefix/{key[:2]}/{key}", Body=b"y")
    client.close()
    for ask in (remote.path, remote.check):
        with pytest.raises(Damaged, match=key):
            asyncio.run(ask(key))
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_blob_is_hashed_once_by_a_process_however_many_open_it(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []
    monkeypatch.setattr("service.platform.data.blobs.hash_of", lambda file: hashed.append(file.name) or hash_of(file))
    (tmp_path / "file").write_bytes(b"x")

    async def walk() -> None:
        key = await blobs.put(tmp_path / "file", hashlib.sha256(b"x").hexdigest())
        await asyncio.gather(*(blobs.path(key) for _ in range(20)))
        await blobs.path(key)

    asyncio.run(walk())
    assert len(hashed) == 1


def test_a_folder_with_nothing_in_it_is_a_disk_that_is_away(blobs: Blobs) -> None:
    for ask in (blobs.path, blobs.check):
        with pytest.raises(Unavailable):
            asyncio.run(ask("0" * 64))


def test_what_is_put_must_be_what_its_key_says(either: Blobs, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"altered since it was hashed")
    with pytest.raises(Unavailable):
        asyncio.run(either.put(tmp_path / "file", "0" * 64))


def test_what_stands_in_the_way_of_a_call_is_for_the_log(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the store that somebody else made, say.

    The rest of the store goes on.
    """

    async def walk() -> str:
        with pytest.raises(Unavailable):
            await blobs.put(file, key)
        second = tmp_path / "other"
        second.write_bytes(b"other")
        return await blobs.put(second)

    file, key = tmp_path / "file", hashlib.sha256(b"x").hexdigest()
    file.write_bytes(b"x")
    (blobs.folder / key[:2]).write_bytes(b"no folder")
    monkeypatch.setattr(blob_store, "log", structlog.get_logger())  # one that was used before keeps where it writes
    with structlog.testing.capture_logs() as lines:
        assert asyncio.run(walk()) == hashlib.sha256(b"other").hexdigest()
    assert [(line["event"], line["error"]) for line in lines] == [("blobs.unavailable", "FileExistsError")]
    assert key[:2] in str(lines[0]["detail"])


def test_the_store_is_listed_in_portions(either: Blobs, tmp_path: Path) -> None:
    async def walk() -> tuple[set[str], list[str]]:
        keys = set()
        for at in range(25):
            (tmp_path / "file").write_bytes(b"%d" % at)
            keys.add(await either.put(tmp_path / "file"))
        await either.is_of("mine")
        places = [""]
        while part := await either.list_files(places[-1], 4):
            assert len(part) <= 4
            places += [item.place for item in part]
        return keys, places[1:]

    keys, places = asyncio.run(walk())
    assert places == sorted(set(places))
    assert keys <= {place.rpartition("/")[2] for place in places}


def test_a_store_belongs_to_one_deployment(either: Blobs) -> None:
    async def walk() -> list[bool]:
        return [await either.is_of(name) for name in ("mine", "mine", "theirs")]

    assert asyncio.run(walk()) == [True, True, False]


STRACE = shutil.which("strace")
WRITE = """
import asyncio, sys
from pathlib import Path
from service.platform.data.blobs import Blobs

folder = Path(sys.argv[1])
asyncio.run(Blobs((folder / "store").as_uri(), folder / "scratch").put(folder / "file"))
"""


@pytest.mark.skipif(STRACE is None and "CI" not in os.environ, reason="needs strace")
def test_a_stored_file_outlasts_a_power_cut(tmp_path: Path) -> None:
    """What the system is told.

    The file's bytes are on the disk before it has its name, and the name's folder after.
    """
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    trace = tmp_path / "trace"
    calls = "--trace=fsync,fdatasync,rename,renameat,renameat2"
    watched = [str(STRACE), "-f", "-y", calls, "-o", str(trace)]
    subprocess.run([*watched, sys.executable, "-c", WRITE, str(tmp_path)], cwd=ROOT, check=True)
    key = hashlib.sha256(b"x" * 100_000).hexdigest()
    place = str(_stored(tmp_path / "store", key))
    seen = [line for line in trace.read_text().splitlines() if str(tmp_path / "store") in line]
    (named,) = [at for at, line in enumerate(seen) if "rename" in line and place in line]
    synced = {line.partition("<")[2].partition(">")[0]: at for at, line in enumerate(seen) if "sync(" in line}
    assert [at < named for name, at in synced.items() if Path(name).parent == Path(place).parent] == [True]
    assert named < synced[str(Path(place).parent)] < synced[str(tmp_path / "store")]


def test_hashing_leaves_the_file_where_it_was() -> None:
    file = io.BytesIO(b"abcdef")
    file.seek(2)
    assert hash_of(file) == hashlib.sha256(b"cdef").hexdigest()
    assert file.tell() == 2


@pytest.mark.parametrize("url", ["ftp://host/x", "nonsense", "s3://", "file:folder", "file://host/folder", "az://box"])
def test_a_url_that_names_no_place_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]{10,200}$"):
        Blobs(url, tmp_path)
