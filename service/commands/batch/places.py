"""Where results go and files come from: a folder, or a prefix of an S3 bucket.

What is written appears under its name when it is whole.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from errno import EAGAIN, EPERM, EWOULDBLOCK
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol
from urllib.parse import urlsplit

from service.commands.refusal import Refused

S3: Final = "s3://"
RETRY_SECONDS: Final = 20
"""A store that does not answer for so long is away; the task is tried again."""
CHUNK_BYTES: Final = 1 << 20
LOCK: Final = ".lock"


class ResultPlace(Protocol):
    """A folder of results."""

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None where there is none."""

    def write(self, name: str, content: bytes | Path) -> None:
        """Write a file, whole or not at all, and durably."""

    def has(self, name: str) -> bool:
        """Return whether there is such a file."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""


@lru_cache(maxsize=8)
def place_at(address: str) -> ResultPlace:
    """Return the place at a path or an S3 address."""
    return StorePlace(address) if address.startswith(S3) else FolderPlace(Path(address))


class FolderPlace:
    """A folder of a file system that every task sees."""

    def __init__(self, folder: Path) -> None:
        """Take a folder, which may be made later."""
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """As `ResultPlace.read`."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes | Path) -> None:
        """As `ResultPlace.write`."""
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
        try:
            with draft.open("wb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    with open_plain(content) as source:
                        shutil.copyfileobj(source, file, CHUNK_BYTES)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """As `ResultPlace.has`."""
        return (self._folder / name).is_file()

    def remove(self, name: str) -> None:
        """As `ResultPlace.remove`."""
        (self._folder / name).unlink(missing_ok=True)


class StorePlace:
    """A prefix of a bucket; a put is whole or not at all."""

    def __init__(self, address: str) -> None:
        """Take s3://bucket/prefix."""
        self._bucket, self._prefix = split_address(address)

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}" if self._prefix else name

    def read(self, name: str) -> bytes | None:
        """As `ResultPlace.read`."""
        import obstore

        try:
            with store_errors():
                return bytes(obstore.get(store_of(self._bucket), self._key(name)).bytes())
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes | Path) -> None:
        """As `ResultPlace.write`."""
        import obstore

        with store_errors():
            obstore.put(store_of(self._bucket), self._key(name), content)

    def has(self, name: str) -> bool:
        """As `ResultPlace.has`."""
        import obstore

        try:
            with store_errors():
                obstore.head(store_of(self._bucket), self._key(name))
        except FileNotFoundError:
            return False
        return True

    def remove(self, name: str) -> None:
        """As `ResultPlace.remove`."""
        import obstore

        with suppress(FileNotFoundError), store_errors():
            obstore.delete(store_of(self._bucket), self._key(name))


def split_address(address: str) -> tuple[str, str]:
    """Return bucket and key of an S3 address.

    Raises:
        Refused: it names no bucket.
    """
    parts = urlsplit(address)
    if not parts.netloc:
        raise Refused(f"{address}: names no bucket: s3://bucket/prefix")
    return parts.netloc, address.removeprefix(f"{S3}{parts.netloc}").strip("/")


@lru_cache(maxsize=64)
def store_of(bucket: str) -> Any:
    """Return the store of a bucket, by the environment's AWS_ variables.

    Raises:
        Refused: obstore is not installed.
        OSError: the environment's variables name no store.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ModuleNotFoundError:
        raise Refused("s3:// needs obstore: pip install 'cushion[batch]'") from None
    try:
        return from_url(f"{S3}{bucket}", retry_config={"retry_timeout": timedelta(seconds=RETRY_SECONDS)})
    except (BaseError, ValueError) as error:
        raise OSError(_first_line(error)) from error


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn what a store raises into OSError, in one line."""
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError:
        raise
    except (BaseError, OSError) as error:
        raise OSError(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def chunks_of(address: str) -> Iterator[bytes]:
    """Yield the bytes of a file or an object.

    Raises:
        OSError: it cannot be read.
    """
    if address.startswith(S3):
        import obstore

        bucket, key = split_address(address)
        with store_errors():
            for chunk in obstore.get(store_of(bucket), key).stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)
        return
    with open(address, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise PermissionError(EPERM, "a pipe or a device, and no file", address)
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe would wait for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def open_plain(path: Path) -> BinaryIO:
    """Open a file that a child wrote; not what a link of its making points to."""
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")


@contextmanager
def locked(address: str) -> Iterator[None]:
    """Keep other batches of this kind out of a folder; an S3 prefix has no lock.

    Raises:
        Refused: another batch writes there, or it cannot be written.
    """
    if address.startswith(S3):
        yield
        return
    folder = Path(address)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("wb")
    except OSError as error:
        raise Refused(f"{folder}: {error.strerror or error}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (EAGAIN, EWOULDBLOCK):
                text = "another batch is writing there; wait for its end, or name another folder with --out"
                raise Refused(f"{folder}: {text}") from error
        yield
