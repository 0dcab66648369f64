"""Bytes by key: content-addressed files in a folder, S3, GCS or Azure.

They are streamed both ways, and mapped where the store is local. What was put is durable when `put` returns, and what
is read has the hash that its key says.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple
from urllib.parse import unquote, urlsplit

import obstore
import structlog
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url

from service.platform.base.breaker import Breaker
from service.platform.base.breakers import TABLE
from service.platform.base.lookout import Lookout
from service.platform.base.lru import Lru, bytes_of
from service.platform.base.problem import Away, Problem, Unavailable
from service.platform.data.scratch import has_room, hold, remove_if_abandoned

CHUNK_BYTES = 1 << 20
RETRY_SECONDS = 20  # a remote store that does not answer for this long is unavailable
FAILURES = (BaseError, OSError)  # obstore raises the builtin exceptions for what has one
LOOK_SECONDS: Final = 5.0
"""In which a store that is there answers a look."""
KNOWN_MAX: Final = 20_000
"""Blobs that a process remembers as whole."""
KNOWN_BYTES_MAX: Final = 32 * 1024 * 1024
CHECKING_THREADS: Final = 2
"""Hashing takes a second for a gigabyte; further openings wait for these rather than take every core."""
DEPLOYMENT: Final = "deployment"
"""The object that names whose store it is."""

log = structlog.get_logger()

_KEY = re.compile(r"[0-9a-f]{64}")
_SHARD = re.compile(r"[0-9a-f]{2}")

Identity = tuple[int, ...]
"""Of a local file: another one, or a change of this one, has another."""


class Damaged(Problem, status=503):
    """Stored data is damaged"""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key
        self.args = (f"{self.detail}: the bytes of {key} are missing, short or altered",)


class Local(NamedTuple):
    """A blob as a local file whose hash was checked."""

    path: Path
    identity: Identity
    is_there: bool = True
    """False while the store is away: what was made of the file is good, the file itself cannot be opened."""


class _Away(Exception):
    """The store is away."""


class StoredFile(NamedTuple):
    """A file of the store."""

    place: str
    size_bytes: int
    seconds_old: float

    @property
    def name(self) -> str:
        """Its blob's key; of a local store also what a writer has not finished."""
        return self.place.rpartition("/")[2]

    @property
    def is_blob(self) -> bool:
        return _KEY.fullmatch(self.name) is not None


def hash_of(file: BinaryIO) -> str:
    """Return the SHA-256 of a file from its position on, in hexadecimal."""
    start = file.tell()
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    file.seek(start)
    return digest.hexdigest()


class Blobs:
    """The object store. A blob's key is the SHA-256 of its bytes: it never changes."""

    def __init__(self, url: str, scratch: Path, breaker: Breaker | None = None) -> None:
        """Open the store.

        `url`: file:///folder, s3://bucket/prefix, gs://…, az://…; `scratch`: a local folder for copies of remote blobs;
        `breaker`: the process's for its blobs.

        Raises:
            ValueError: the URL names no place for blobs.
            OSError: the folder cannot be made.
        """
        parts = urlsplit(url)
        self._folder: Path | None = None
        if parts.scheme == "file":
            if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
                raise ValueError("a folder is given as file:///folder, from the root on")
            self._folder = Path(unquote(parts.path))
            self._folder.mkdir(parents=True, exist_ok=True)
            self._store: Any = LocalStore(self._folder)
        else:
            try:
                self._store = from_url(url, retry_config={"retry_timeout": timedelta(seconds=RETRY_SECONDS)})
            except (BaseError, ValueError) as error:
                raise ValueError(str(error).splitlines()[0]) from error
        self.copies = scratch
        """The local copies of remote blobs, each under its key."""
        scratch.mkdir(parents=True, exist_ok=True)
        self._whole: Lru[str, Local] = Lru(most=KNOWN_MAX, bytes_most=KNOWN_BYTES_MAX)
        self._breaker = breaker or Breaker("blobs", TABLE["blobs"].limits)
        self._lookout = Lookout(self._breaker, self._check_store, seconds=LOOK_SECONDS, failures=FAILURES)
        self._disk = _disk_of(self._folder) if self._folder is not None else None
        """Which folder on which disk it was; another one, or the empty place where a disk was mounted, is not ours."""
        self._mark = self._found_mark()
        self._checking: dict[str, asyncio.Future[str]] = {}
        self._threads = ThreadPoolExecutor(CHECKING_THREADS, thread_name_prefix="blobs")

    @property
    def folder(self) -> Path:
        """The folder of every `path`."""
        return self._folder or self.copies

    async def put(self, path: Path, key: str | None = None) -> str:
        """Store a local file and return its key.

        The bytes stream, whatever the size, and no power cut takes them from here on.

        Raises:
            Unavailable: the store does not answer, or the file is no longer what `key` says.
        """
        digest = key if key is not None and self._folder is not None else await asyncio.to_thread(hash_path, path)
        if key not in (None, digest):
            raise Unavailable
        with self._guard():
            if self._folder is not None:
                self._check_disk()
                await asyncio.to_thread(_write, path, self._folder / _place(digest), digest)
            else:
                size_bytes = (await asyncio.to_thread(path.stat)).st_size
                use_multipart = size_bytes > 8 * CHUNK_BYTES
                try:
                    await obstore.put_async(self._store, _place(digest), path, use_multipart=use_multipart)
                except FileNotFoundError as error:  # there is no such bucket
                    raise _unavailable(error) from error
        return digest

    async def has_room(self) -> bool:
        """Return whether the store's disk takes another file; True for a remote store."""
        return self._folder is None or await asyncio.to_thread(has_room, self._folder)

    async def path(self, key: str) -> Path:
        """Return the path of a blob's local file, for a caller who opens it at once.

        Raises:
            Unavailable: the store is away.
        """
        local = await self.locate(key)
        if not local.is_there:
            raise self.away()
        return local.path

    def away(self) -> Away:
        """Return the refusal of a caller who needs a file while the store is away."""
        return self._lookout.refusal()

    async def locate(self, key: str) -> Local:
        """Return a local, read-only file of the blob: the stored one, or a copy.

        Its hash is checked when this process first gives it out, and again when the file is another one than it was:
        that costs a look at the file's times. While the store is away it may be known all the same: `is_there`.

        Raises:
            Damaged: its bytes are missing, short or altered.
            Unavailable: the store is away, and this process never saw the blob.
        """
        known = self._whole.get(key)
        if known is not None and known.identity == _identity(known.path):
            return known
        try:
            return await self._open_local(key)
        except _Away:
            if known is None:
                raise self.away() from None
            self._lookout.suspect()
            return known._replace(is_there=False)

    async def _open_local(self, key: str) -> Local:
        """Return the checked local file of a blob, fetched if need be.

        Raises:
            _Away: the store is, and with it the whole file; one that was altered is Unavailable.
        """
        path = self.copies / key if self._folder is None else self._folder / _place(key)
        identity = _identity(path)
        if identity is not None and await self._is_whole(key, path, identity):
            return Local(path, identity)
        if self._folder is None:
            try:
                return await self._fetch(key, path)
            except Unavailable as error:
                if identity is None:
                    raise _Away from error
                raise
        self._check_folder()
        raise Damaged(key)

    async def check(self, key: str) -> int:
        """Read the stored bytes, whatever is known of them, and return how many.

        Raises:
            Damaged: they are missing, short or altered.
        """
        digest, size_bytes = hashlib.sha256(), 0
        try:
            with self._guard():
                if self._folder is not None:
                    path = self._folder / _place(key)
                    actual = await asyncio.get_running_loop().run_in_executor(self._threads, hash_path, path)
                    size_bytes = path.stat().st_size
                else:
                    async for chunk in (await obstore.get_async(self._store, _place(key))).stream(CHUNK_BYTES):
                        digest.update(chunk)
                        size_bytes += len(chunk)
                    actual = digest.hexdigest()
        except FileNotFoundError:
            try:
                self._check_folder()
            except _Away:
                raise self.away() from None
            raise Damaged(key) from None
        if actual != key:
            raise Damaged(key)
        return size_bytes

    async def delete(self, key: str) -> None:
        """Remove a blob; one that is not there is fine. Who has it mapped reads on."""
        with suppress(FileNotFoundError), self._guard():
            await obstore.delete_async(self._store, _place(key))
        (self.copies / key).unlink(missing_ok=True)

    async def list_files(self, after: str, most: int) -> list[StoredFile]:
        """List some `most` entries of the store behind the place `after`, in order."""
        with self._guard():
            if self._folder is not None:
                return await asyncio.to_thread(_list_folder, self._folder, after, most)
            now, items = time.time(), list[StoredFile]()
            async for part in obstore.list(self._store, offset=after or None, chunk_size=most):
                items = [
                    StoredFile(item["path"], item["size"], now - item["last_modified"].timestamp()) for item in part
                ]
                break
        return sorted(items)

    def remove_unfinished(self, place: str) -> None:
        """Remove what a killed writer left; other entries of a remote store are not ours."""
        if self._folder is not None:
            remove_if_abandoned(self._folder / place)

    async def is_of(self, deployment: str) -> bool:
        """Return whether the store is this deployment's; an unmarked one becomes it."""
        with self._guard():
            if self._folder is not None:
                self._check_disk()
            try:
                owner = bytes(await (await obstore.get_async(self._store, DEPLOYMENT)).bytes_async())
            except FileNotFoundError:
                await obstore.put_async(self._store, DEPLOYMENT, deployment.encode())
                return True
        return owner == deployment.encode()

    def close(self) -> None:
        """Take nothing more."""
        self._lookout.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _is_whole(self, key: str, path: Path, identity: Identity) -> bool:
        running = self._checking.get(key)
        if running is None:  # whoever comes meanwhile waits for the same look
            running = asyncio.get_running_loop().run_in_executor(self._threads, hash_path, path)
            self._checking[key] = running
            running.add_done_callback(lambda _: self._checking.pop(key, None))
        try:
            digest = await asyncio.shield(running)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _unavailable(error) from error
        if digest == key:
            kept = Local(path, identity)
            self._whole.keep(key, kept, bytes_of(kept))
        return digest == key

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Turn errors of the store into refusals, and have it checked.

        Raises:
            Unavailable: it is away, or does not do it.
        """
        self._lookout.check()
        passed = self._breaker.enter()
        try:
            yield
        except FileNotFoundError:
            if self._folder is None:
                self._breaker.succeed(passed)
            else:  # which may be for want of the whole folder
                self._breaker.abandon(passed)
            raise
        except FAILURES as error:
            self._lookout.suspect()
            raise _unavailable(error) from error
        self._breaker.succeed(passed)

    async def _check_store(self) -> None:
        if self._folder is not None:
            await asyncio.to_thread(self._check_disk)
            return
        with suppress(FileNotFoundError):
            await obstore.head_async(self._store, DEPLOYMENT)

    def _check_disk(self) -> None:
        """Check that the folder is still the same one.

        Raises:
            OSError: it is gone, or another one stands in its place: the one where a disk was mounted, say, and what is
                written there would be lost once the disk is back.
        """
        assert self._folder is not None
        try:
            disk = _disk_of(self._folder)
        except FileNotFoundError as error:  # by which callers would understand that a blob is
            raise NotADirectoryError("the folder of the store is gone") from error
        if disk == self._disk:
            return
        mark = self._found_mark()
        if mark != self._mark if self._mark is not None else not any(self._folder.iterdir()):
            raise NotADirectoryError("another folder stands in place of the store")
        self._disk, self._mark = disk, mark

    def _found_mark(self) -> bytes | None:
        """Return whose store the folder says that it is."""
        try:
            return (self._folder / DEPLOYMENT).read_bytes() if self._folder is not None else None
        except OSError:
            return None

    def _check_folder(self) -> None:
        """Check that the folder has files: an empty one is a disk that is not mounted.

        Raises:
            _Away: it is, or another one stands in its place.
        """
        if self._folder is None:
            return
        try:
            self._check_disk()
            if any(self._folder.iterdir()):
                return
        except OSError as error:
            raise _Away from error
        raise _Away

    async def _fetch(self, key: str, path: Path) -> Local:
        handle, temporary = tempfile.mkstemp(dir=self.copies)
        digest = hashlib.sha256()
        try:
            with os.fdopen(handle, "wb") as file:
                hold(handle)
                with self._guard():
                    result = await obstore.get_async(self._store, _place(key))
                    async for chunk in result.stream(min_chunk_size=CHUNK_BYTES):
                        digest.update(chunk)
                        file.write(chunk)
                file.flush()
                if digest.hexdigest() != key:
                    raise Damaged(key)
                os.replace(temporary, path)
                fetched = Local(path, _identity_of(os.fstat(handle)))
            self._whole.keep(key, fetched, bytes_of(fetched))
            return fetched
        except FileNotFoundError as error:
            raise Damaged(key) from error
        except FAILURES as error:
            raise _unavailable(error) from error
        finally:
            with suppress(FileNotFoundError):  # it has moved to its place
                os.unlink(temporary)


def _unavailable(error: Exception) -> Unavailable:
    """Return the refusal of a call that failed at the store; its cause is logged."""
    log.warning("blobs.unavailable", error=type(error).__name__, detail=str(error).splitlines()[:1])
    return Unavailable()


def _place(key: str) -> str:
    return f"{key[:2]}/{key}"


def hash_path(path: Path) -> str:
    """Return the SHA-256 of a whole file, in hexadecimal."""
    with path.open("rb") as file:
        return hash_of(file)


def _identity(path: Path) -> Identity | None:
    try:
        return _identity_of(os.stat(path))
    except OSError:  # it is gone, or its disk is
        return None


def _disk_of(folder: Path) -> tuple[int, int]:
    status = os.stat(folder)
    return status.st_dev, status.st_ino


def _identity_of(status: os.stat_result) -> Identity:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _write(source: Path, target: Path, key: str) -> None:
    """Copy a file: a power cut leaves the whole of it or nothing under its name.

    What is there already and whole is only made sure of: its writer may not have come that far.
    """
    target.parent.mkdir(exist_ok=True)
    size_bytes = source.stat().st_size
    there = _identity(target)
    if there is None or there[1] != size_bytes or hash_path(target) != key:
        handle, temporary = tempfile.mkstemp(dir=target.parent)
        digest = hashlib.sha256()
        try:
            with os.fdopen(handle, "wb") as file, source.open("rb") as original:
                hold(handle)
                while chunk := original.read(CHUNK_BYTES):
                    digest.update(chunk)
                    file.write(chunk)
                if digest.hexdigest() != key:
                    raise OSError(f"{source} was altered while it was stored")
                file.flush()
                os.fsync(handle)
                os.replace(temporary, target)
        finally:
            with suppress(FileNotFoundError):  # it has moved to its place
                os.unlink(temporary)
    _sync(target.parent)
    _sync(target.parent.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _list_folder(folder: Path, after: str, most: int) -> list[StoredFile]:
    return list(islice(_walk(folder, after), most))


def _walk(folder: Path, after: str) -> Iterator[StoredFile]:
    """Yield the files of the store by shard and name."""
    now = time.time()
    for shard in sorted(entry.name for entry in os.scandir(folder) if _SHARD.fullmatch(entry.name)):
        for entry in sorted(os.scandir(folder / shard), key=lambda entry: entry.name) if shard >= after[:2] else ():
            if f"{shard}/{entry.name}" > after:
                with suppress(FileNotFoundError):
                    status = entry.stat()
                    yield StoredFile(f"{shard}/{entry.name}", status.st_size, now - status.st_mtime)
