"""Backups: a dump of the database, the blobs that it names and, when asked for, the deployment's secrets; and back.

A folder of backups has the blobs of all of them once (`blobs`, by their SHA-256) and a folder for each backup. That one
gets its name when everything in it, its manifest last, is on the disk: what has no such name is no backup.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import psycopg
from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import core
from service.host import backup_store as store
from service.host.data_folder import default_data_dir, find_programs, open_data_dir, own_folder, server_account
from service.host.deployment import Deployment
from service.host.embedded import Embedded
from service.platform.base.problem import Problem
from service.platform.config import Settings
from service.platform.data import database, migrations
from service.platform.data.blobs import Blobs, Damaged, hash_path
from service.platform.work import process

FORMAT: Final = 1
NAME: Final = re.compile(r"\d{8}T\d{6}\.\d{3}Z")
"""A whole backup's folder: the moment of its snapshot, in UTC."""
UNFINISHED: Final = ".unfinished"
MANIFEST, DUMP, BLOB_LIST, SECRETS = "manifest.json", "database.dump", "blobs.txt", "secrets"
SECRET_FILES: Final = ("secret_key", "keys")
"""What of a data folder the sealed secrets and the signatures of exports need."""


class BackupError(Exception):
    """A backup cannot be made or restored; the message says why."""


class File(Struct, frozen=True):
    """A file of a backup."""

    path: str
    size_bytes: int
    sha256: str


class Manifest(Struct, frozen=True, kw_only=True):
    """What a backup is made of."""

    format: int
    made_at: datetime
    version: str
    """Of the program that made it."""
    postgres: int
    """Major version of the server."""
    deployment: str
    migrations: list[str]
    files: list[File]
    blob_count: int
    blob_bytes: int
    damaged: list[str]
    """Blobs that were found damaged, and are left out."""
    heads: list[store.AuditHead]
    owner: str
    """The database's, whom policies name."""
    definers: list[str]
    """Functions and views of the role `cushion_definer`: a dump is restored as the restoring role's, all but these."""


class Made(Struct, frozen=True):
    """What a backup came to."""

    folder: Path
    manifest: Manifest
    copied: int
    """Blobs that were not there from an earlier backup."""
    removed: list[str]
    """Older backups that were removed."""


# Making one -----------------------------------------------------------------------------------------------------------


def back_up(deployment: Deployment, target: Path, *, with_secrets: bool, keep: int | None) -> Made:
    """Make a backup of a deployment, which may run meanwhile, in a folder of backups.

    Raises:
        BackupError: it cannot be made; nothing of it stays.
        OSError: the folder cannot be written; likewise.
    """
    if deployment.owner_url is None:
        raise BackupError("CUSHION_MIGRATION_URL is not set: only the database's owner sees the rows of all tenants")
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(target):
        for left in target.glob(f"{UNFINISHED}*"):  # of a process that was killed
            shutil.rmtree(left)
        copied: list[str] = []
        draft = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=target))
        try:
            manifest = _written(deployment, deployment.owner_url, target, draft, copied, with_secrets=with_secrets)
            made_at = manifest.made_at
            folder = target / f"{made_at:%Y%m%dT%H%M%S}.{made_at.microsecond // 1000:03}Z"
            if folder.exists():
                raise BackupError(f"{folder} is there already; try again")
            os.rename(draft, folder)
            _sync(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            for key in copied:
                (target / "blobs" / key[:2] / key).unlink(missing_ok=True)
            raise
        removed = _prune(target, keep)
        return Made(folder, manifest, len(copied), removed)


def _written(
    deployment: Deployment, owner_url: str, target: Path, draft: Path, copied: list[str], *, with_secrets: bool
) -> Manifest:
    with psycopg.connect(owner_url, autocommit=True) as holder, psycopg.connect(owner_url) as reader:
        _check_sees_all(holder)
        store.hold(holder)
        facts = store.facts(reader)
        _dump(_program("pg_dump", facts.postgres), owner_url, facts.snapshot, draft / DUMP)
        pool, listing = target / "blobs", draft / BLOB_LIST
        copy = _copy_blobs(deployment.settings, store.blob_keys(reader), facts.damaged, pool, listing, copied)
        count, size_bytes, damaged = asyncio.run(copy)
    if with_secrets:
        if deployment.settings.secret_key is not None or deployment.settings.data_dir is None:
            raise BackupError("the secret key is a setting (CUSHION_SECRET_KEY): keep it as you keep your settings")
        _copy_secrets(deployment.settings.data_dir, draft / SECRETS)
    files = [
        File(str(path.relative_to(draft)), path.stat().st_size, hash_path(path))
        for path in sorted(draft.rglob("*"))
        if path.is_file()
    ]
    manifest = Manifest(
        format=FORMAT,
        made_at=facts.made_at.astimezone(UTC),
        version=core.__version__,
        postgres=facts.postgres,
        deployment=facts.deployment,
        migrations=facts.migrations,
        files=files,
        blob_count=count,
        blob_bytes=size_bytes,
        damaged=damaged,
        heads=facts.heads,
        owner=facts.owner,
        definers=facts.definers,
    )
    for path in (*(draft / file.path for file in files), *(path for path in draft.rglob("*") if path.is_dir())):
        _sync(path)
    (draft / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    _sync(draft / MANIFEST)
    _sync(draft)
    return manifest


async def _copy_blobs(
    settings: Settings, keys: Iterator[str], marked: set[str], target: Path, listing: Path, copied: list[str]
) -> tuple[int, int, list[str]]:
    """Copy what is not there yet, every byte of either hashed.

    A mark may be of one tenant, and older than a mended file: what it says is believed only where the bytes are wrong,
    and no earlier backup has them.

    Args:
        marked: blobs that may be left out where they are damaged; another damaged one ends the backup.

    Returns:
        How many blobs there are, their bytes, and the damaged ones that were left out.
    """
    count = size_bytes = 0
    damaged: list[str] = []
    with tempfile.TemporaryDirectory(prefix="cushion-") as scratch:
        source, pool = process.blobs(settings, Path(scratch)), Blobs(target.as_uri(), Path(scratch) / "pool")
        try:
            with listing.open("w") as lines:
                for key in keys:
                    place = target / key[:2] / key
                    if not place.exists() or hash_path(place) != key:
                        try:
                            path = await source.path(key)
                        except Damaged:
                            if key not in marked:
                                raise
                            damaged.append(key)
                            continue
                        if not place.exists():
                            copied.append(key)
                        await pool.put(path, key)
                        if path.parent == source.copies:  # fetched from a remote store
                            path.unlink(missing_ok=True)
                    size = place.stat().st_size
                    lines.write(f"{key} {size}\n")
                    count, size_bytes = count + 1, size_bytes + size
        except Problem as error:
            raise BackupError(f"{error}{f': {error.__cause__}' if error.__cause__ else ''}") from error
        finally:
            source.close()
            pool.close()
    return count, size_bytes, damaged


def _copy_secrets(data_dir: Path, target: Path) -> None:
    target.mkdir(mode=0o700)
    for name in SECRET_FILES:
        source = data_dir / name
        if source.is_dir():
            shutil.copytree(source, target / name)
        elif source.exists():
            shutil.copy(source, target / name)


def _prune(target: Path, keep: int | None) -> list[str]:
    """Remove all backups but so many of the newest, and blobs that none names.

    The names of those that went.

    A backup that was killed has left blobs, too.
    """
    whole = backups(target)
    gone = whole[:-keep] if keep is not None else []
    for name in gone:
        away = target / f"{UNFINISHED}{name}"  # from here on it is none, and the next backup's to remove
        os.rename(target / name, away)
        shutil.rmtree(away)
    kept = {key for name in whole[len(gone) :] for key in _keys(target / name)}
    for path in (target / "blobs").glob("*/*"):
        if path.name not in kept:
            path.unlink()
    return gone


# Restoring one --------------------------------------------------------------------------------------------------------


def backups(source: Path) -> list[str]:
    """The whole backups of a folder, the oldest first."""
    return sorted(
        path.parent.name for path in source.glob(f"*/{MANIFEST}") if NAME.fullmatch(path.parent.name) is not None
    )


def verified(source: Path, name: str | None) -> tuple[Path, Manifest]:
    """A backup, the newest where none is named, of which every byte was found as it was written.

    Raises:
        BackupError: there is none, something of it is missing or altered, or a newer program made it.
    """
    whole = backups(source)
    if not whole or (name is not None and name not in whole):
        raise BackupError(f"{source} has no backup{f' {name}' if name else ''}: one has a folder with a {MANIFEST}")
    folder = source / (name or whole[-1])
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except msgspec.MsgspecError as error:
        raise BackupError(f"{folder / MANIFEST} is no manifest: {error}") from error
    if manifest.format != FORMAT:
        raise BackupError(f"{folder} has the format {manifest.format}, which this version does not know")
    try:
        migrations.check_known(manifest.migrations, source=f"the backup {folder}")
    except migrations.MigrationError as error:
        raise BackupError(str(error)) from error
    for file in manifest.files:
        path = folder / file.path
        if ".." in Path(file.path).parts or not path.is_file() or hash_path(path) != file.sha256:
            raise BackupError(f"{path} is missing, short or altered")
    for key in _keys(folder):
        path = source / "blobs" / key[:2] / key
        if not path.is_file() or hash_path(path) != key:
            raise BackupError(f"the blob {path} is missing, short or altered")
    return folder, manifest


def _keys(folder: Path) -> Iterator[str]:
    with (folder / BLOB_LIST).open() as lines:
        for line in lines:
            key = line.split()[0]
            if re.fullmatch(r"[0-9a-f]{64}", key) is None:
                raise BackupError(f"{folder / BLOB_LIST} names {key!r}, which is no blob")
            yield key


def restore(
    source: Path,
    settings: Settings,
    *,
    name: str | None,
    takes_over: bool,
    look: Callable[[Settings], None],
) -> Manifest:
    """Restore a backup into an empty data folder, or an empty database, and an empty blob store.

    The copy is a deployment of its own: it removes nothing from a store that another one writes. Unless it takes over,
    what it would send is held back.

    Args:
        look: at the restored deployment while its database runs; what it raises undoes the restoring.

    Raises:
        BackupError, EmbeddedError, ConfigError: it cannot be restored; nothing of it stays.
        OSError: the disk is full, say; likewise.
    """
    folder, manifest = verified(source, name)
    data_dir = None
    if settings.database_url is None:
        data_dir = Path(os.path.realpath(settings.data_dir or default_data_dir()))
        if data_dir.exists() and (not data_dir.is_dir() or any(data_dir.iterdir())):
            raise BackupError(f"{data_dir} is not empty")
        settings = msgspec.structs.replace(settings, data_dir=data_dir)
    elif settings.migration_url is None:
        raise BackupError("CUSHION_MIGRATION_URL is not set: only the database's owner can restore it")
    else:
        with psycopg.connect(settings.migration_url, autocommit=True) as connection:
            _check_sees_all(connection)
            if not store.is_empty(connection):
                raise BackupError("the database is not empty")
            is_new = store.prepare(connection, manifest.owner)
        if is_new:  # else it is that of a deployment beside this one, which goes on with its password
            database.give_password(settings.migration_url, settings.database_url)
        psycopg.connect(settings.database_url).close()  # before anything is written
    with _undone(data_dir) as undo:
        if data_dir is not None:
            open_data_dir(data_dir, server_account())
            own_folder(data_dir / "blobs")
        asyncio.run(_put_blobs(source, folder, settings, undo))
        if data_dir is None:
            assert settings.migration_url is not None
            assert settings.database_url is not None
            try:
                _load(folder, manifest, settings.migration_url, takes_over=takes_over)
                look(settings)
            except Exception as error:
                with psycopg.connect(settings.migration_url) as connection:
                    if store.is_empty(connection):
                        raise
                raise BackupError(f"{error}; the database was written to: drop it and create it again") from error
        else:
            _put_secrets(folder / SECRETS, data_dir)
            with Embedded(data_dir) as servers:
                with psycopg.connect(servers.database_url, autocommit=True) as connection:
                    store.prepare(connection, manifest.owner)
                _load(folder, manifest, servers.database_url, takes_over=takes_over)
                url = database.as_service(servers.database_url)
                look(msgspec.structs.replace(settings, database_url=url, embedded=True))
    return manifest


@contextmanager
def _undone(data_dir: Path | None) -> Iterator[list[Callable[[], object]]]:
    """Should what runs within fail, the data folder is as empty as it was, and what was noted is undone."""
    was_there = data_dir is not None and data_dir.exists()
    undo: list[Callable[[], object]] = []
    try:
        yield undo
    except BaseException:
        for step in reversed(undo):
            step()
        if data_dir is not None and data_dir.exists():
            for path in data_dir.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            if not was_there:
                data_dir.rmdir()
        raise


async def _put_blobs(source: Path, folder: Path, settings: Settings, undo: list[Callable[[], object]]) -> None:
    with tempfile.TemporaryDirectory(prefix="cushion-") as scratch:
        blobs = process.blobs(settings, Path(scratch))
        try:
            if await blobs.list_files("", 1):
                raise BackupError("the blob store is not empty: a restored deployment has one of its own")
            undo.append(lambda: asyncio.run(_remove(folder, settings)))
            for key in _keys(folder):
                await blobs.put(source / "blobs" / key[:2] / key, key)
        except Problem as error:
            raise BackupError(f"{error}{f': {error.__cause__}' if error.__cause__ else ''}") from error
        finally:
            blobs.close()


async def _remove(folder: Path, settings: Settings) -> None:
    with tempfile.TemporaryDirectory(prefix="cushion-") as scratch:
        blobs = process.blobs(settings, Path(scratch))
        with suppress(Problem):
            for key in _keys(folder):
                await blobs.delete(key)
        blobs.close()


def _put_secrets(source: Path, data_dir: Path) -> None:
    if source.is_dir():
        for path in source.iterdir():
            if path.is_dir():
                shutil.copytree(path, data_dir / path.name)
            else:
                shutil.copy(path, data_dir / path.name)


def _load(folder: Path, manifest: Manifest, owner_url: str, *, takes_over: bool) -> None:
    with psycopg.connect(owner_url) as connection:
        major = connection.info.server_version // 10000
    if major < manifest.postgres:
        raise BackupError(f"the dump is of PostgreSQL {manifest.postgres}, and the server of {major}")
    options = ["--exit-on-error", "--single-transaction", "--no-owner", "--dbname", _bare(owner_url)]
    _run([str(_program("pg_restore", major)), *options, str(folder / DUMP)], owner_url)
    with psycopg.connect(owner_url) as connection:
        if store.heads(connection) != manifest.heads:
            raise BackupError("the restored audit chains do not end as those of the backup")
        store.hand_over(connection, manifest.owner, manifest.definers)
    migrations.migrate(owner_url)
    with psycopg.connect(owner_url) as connection:
        store.become_own(connection, damaged=manifest.damaged, holds_back=not takes_over)


def _check_sees_all(connection: psycopg.Connection[Any]) -> None:
    if not store.sees_all(connection):
        role = connection.info.user
        raise BackupError(f"row security binds the role {role}: ALTER ROLE {role} BYPASSRLS, or take a superuser's URL")


# Programs and files ---------------------------------------------------------------------------------------------------


def _program(name: str, major: int) -> Path:
    """PostgreSQL's program of at least the server's version.

    The embedded server's, else one on the path.
    """
    programs = find_programs(server_account(), made_by=major)
    beside = programs.initdb.with_name(name)
    if beside.is_file() and programs.postgres_major >= major:
        return beside
    named = shutil.which(name)
    if named is None:
        raise BackupError(f"there is no {name} of PostgreSQL {major} or later; install its client programs")
    return Path(named)


def _dump(program: Path, url: str, snapshot: str, target: Path) -> None:
    options = ["--format=custom", "--compress=1", "--snapshot", snapshot, "--file", str(target), "--dbname", _bare(url)]
    _run([str(program), *options], url)


def _bare(url: str) -> str:
    """A connection without its password, which every user of the machine could read among a program's arguments."""
    parts = {name: value for name, value in conninfo_to_dict(url).items() if name != "password"}
    return make_conninfo("", **parts)


def _run(argv: list[str], url: str) -> None:
    environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "HOME") if name in os.environ}
    password = conninfo_to_dict(url).get("password")
    if password:
        environment["PGPASSWORD"] = str(password)
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise BackupError(f"{Path(argv[0]).name} failed: {' '.join(done.stderr.split())[-1000:]}")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise BackupError(f"another backup is being made in {folder}") from None
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
