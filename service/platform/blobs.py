"""Bytes by key: content-addressed files in a folder, S3, GCS or Azure, streamed both ways, mapped where local."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url

from service.platform.problem import Unavailable

CHUNK_BYTES = 1 << 20
RETRY_SECONDS = 20  # a remote store that does not answer for this long is unavailable
FAILURES = (BaseError, OSError)  # obstore raises the builtin exceptions for what has one


class BlobMissing(Exception):
    """No blob has the key."""


def hash_of(file: BinaryIO) -> str:
    """SHA-256 of a file from its present position on, in hexadecimal; the position is restored."""
    start = file.tell()
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    file.seek(start)
    return digest.hexdigest()


class Blobs:
    """The object store. A blob's key is the SHA-256 of its bytes, so a blob never changes and may be written twice."""

    def __init__(self, url: str, scratch: Path) -> None:
        """Open the store.

        `url`: file:///folder, s3://bucket/prefix, gs://…, az://…; `scratch`: a local folder for copies of remote blobs.

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
        self._scratch = scratch
        scratch.mkdir(parents=True, exist_ok=True)

    async def put(self, path: Path, key: str | None = None) -> str:
        """Store a local file; its key. The bytes stream, whatever the size."""
        if key is None:
            key = await asyncio.to_thread(_hash_path, path)
        try:
            size_bytes = (await asyncio.to_thread(path.stat)).st_size
            await obstore.put_async(self._store, _place(key), path, use_multipart=size_bytes > 8 * CHUNK_BYTES)
        except FAILURES as error:
            raise Unavailable from error
        return key

    async def path(self, key: str) -> Path:
        """A local, read-only path of the blob: the stored file itself, or a copy fetched once.

        Raises:
            BlobMissing: there is none of that key.
        """
        if self._folder is not None:
            path = self._folder / _place(key)
            if not path.exists():
                raise BlobMissing(key)
            return path
        path = self._scratch / key
        if not path.exists():
            await self._fetch(key, path)
        return path

    async def delete(self, key: str) -> None:
        """Remove a blob; one that is not there is fine."""
        try:
            await obstore.delete_async(self._store, _place(key))
        except FileNotFoundError:
            return
        except FAILURES as error:
            raise Unavailable from error

    async def _fetch(self, key: str, path: Path) -> None:
        handle, temporary = tempfile.mkstemp(dir=self._scratch)
        try:
            with os.fdopen(handle, "wb") as file:
                result = await obstore.get_async(self._store, _place(key))
                async for chunk in result.stream(min_chunk_size=CHUNK_BYTES):
                    file.write(chunk)
            os.replace(temporary, path)
        except FileNotFoundError as error:
            raise BlobMissing(key) from error
        except FAILURES as error:
            raise Unavailable from error
        finally:
            with suppress(FileNotFoundError):  # it has moved to its place
                os.unlink(temporary)


def _place(key: str) -> str:
    return f"{key[:2]}/{key}"


def _hash_path(path: Path) -> str:
    with path.open("rb") as file:
        return hash_of(file)
