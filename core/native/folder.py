"""The folder of object code.

Its user alone can write it, and only what it holds whole is loaded.
A file is named by the hash of all that it depends on. Who writes has the lock of the folder.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

FILES_MAX: Final = 2_048
BYTES_MAX: Final = 256 * 1024 * 1024
"""Of all files; those that were loaded or written longest ago go first."""

OBJECT_BYTES_MAX: Final = 8 * 1024 * 1024
"""Of one file; a loop of 256 steps has 20 kB."""

_MAGIC: Final = b"cushion object 1"
_HASH_BYTES: Final = 32
_HEAD_BYTES: Final = len(_MAGIC) + 2 * _HASH_BYTES
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_ENDING, _DRAFT, _LOCK = ".o", ".draft", "lock"


class FolderRefused(OSError):
    """The folder is not one whose code may be run; the text says why."""


_place: Path | None = None


def use(path: Path | None) -> None:
    """Name the folder of this process; None: the user's cache."""
    global _place
    _place = None if path is None else path.absolute()


def place() -> Path:
    """Return the folder of this process."""
    if _place is not None:
        return _place
    home = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a relative path is invalid and to be ignored.
    return (Path(home) if os.path.isabs(home) else Path.home() / ".cache") / "cushion" / "native"


def key_of(*parts: str) -> bytes:
    """Return the hash of all that an object depends on."""
    return sha256(b"".join(sha256(part.encode()).digest() for part in parts)).digest()


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """The folder's descriptor; it is made where it is missing.

    Raises:
        FolderRefused: it is a link, another user's, or open to others.
        OSError: it cannot be made or opened.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if (refusal := _refusal(os.fstat(folder))) is not None:
            raise FolderRefused(f"{path} {refusal}")
        yield folder
    finally:
        os.close(folder)


def _refusal(status: os.stat_result) -> str | None:
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & _OTHERS:
        return "is open to other users; close it with `chmod go-rwx`"
    return None


def read(folder: int, key: bytes) -> bytes | None:
    """Return the object of a key; None where there is none that is whole and ours alone."""
    try:
        file = os.open(key.hex() + _ENDING, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > OBJECT_BYTES_MAX or _refusal(status) is not None:
            return None
        with open(file, "rb", closefd=False) as data:
            content = data.read()
        head, code = content[:_HEAD_BYTES], content[_HEAD_BYTES:]
        if head != _MAGIC + key + sha256(code).digest():
            return None
        with suppress(OSError):
            os.utime(file)
        return code
    finally:
        os.close(file)


@contextmanager
def locked(folder: int) -> Iterator[None]:
    """Wait for the lock of those that write, and keep it meanwhile."""
    lock = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def write(folder: int, key: bytes, code: bytes) -> None:
    """Write an object, whole or not at all; for who has the lock.

    Raises:
        OSError: it is too large, or the disk's own.
    """
    if len(code) + _HEAD_BYTES > OBJECT_BYTES_MAX:
        raise OSError(f"object code of more than {OBJECT_BYTES_MAX} bytes")
    _make_room(folder, len(code) + _HEAD_BYTES)
    draft = key.hex() + _DRAFT
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    with open(file, "wb") as data:
        data.write(_MAGIC + key + sha256(code).digest() + code)
        data.flush()
        os.fsync(file)
    os.rename(draft, key.hex() + _ENDING, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def _make_room(folder: int, size: int) -> None:
    """Remove drafts, and the oldest objects beyond the limits.

    Whoever wrote a draft is gone, since the lock is ours.
    """
    objects: list[tuple[int, int, str]] = []
    for name in os.listdir(folder):
        if name.endswith(_DRAFT):
            os.unlink(name, dir_fd=folder)
        elif name.endswith(_ENDING):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            objects.append((status.st_mtime_ns, status.st_size, name))
    objects.sort(reverse=True)
    for at, (_, length, name) in enumerate(objects):
        size += length
        if at >= FILES_MAX - 1 or size > BYTES_MAX:
            os.unlink(name, dir_fd=folder)
