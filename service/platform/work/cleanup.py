"""Stored bytes over time: unused ones are freed, damaged ones are noticed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

import structlog
from msgspec import Struct

from service.platform.base.problem import Problem
from service.platform.base.secrets import new_id
from service.platform.data.blobs import Damaged
from service.platform.data.scratch import remove_if_abandoned, sweep
from service.platform.unit.context import Resources, Subject, Unit
from service.platform.unit.storage import CHECK, CLEAR_DAMAGE, drop_unused, report_damage
from service.platform.work.jobs import JobTable, accept_retry

LONGEST_PAUSE_SECONDS: Final = 30
LISTED_AT_A_TIME: Final = 10_000
"""Files of the store in one round: a listing of a tenth of a second."""
FREED_AT_A_TIME: Final = 200
CHECKED_BYTES_AT_A_TIME: Final = 256 * 1024 * 1024
"""A quarter of a second of hashing in a round: 700 GB a day."""

_LOOK_AGAIN: Final = """
    UPDATE blobs SET left_at = (
        SELECT CASE WHEN bool_and(kept_until IS NOT NULL) THEN max(kept_until) END FROM named_blobs WHERE key = %s)
    WHERE key = %s
"""
"""What evidence alone keeps is looked at again when its retention has ended."""

jobs = JobTable()
log = structlog.get_logger()


def pause_seconds(resources: Resources) -> float:
    """Return the pause between two rounds."""
    return min(LONGEST_PAUSE_SECONDS, resources.settings.storage_pause_seconds)


# In every process: what is local to its machine -----------------------------------------------------------------------


async def sweep_scratch_forever(resources: Resources) -> None:
    """Remove leftovers of killed processes, and copies of blobs that are gone."""
    while True:
        try:
            swept = await asyncio.to_thread(
                sweep,
                resources.scratch,
                older_than_seconds=resources.settings.storage_pause_seconds,
                keep=resources.blobs.copies,
            )
            if swept:
                log.info("scratch.swept", names=swept)
            await _sweep_copies(resources)
        except (Problem, OSError) as error:
            log.warning("scratch.sweep_failed", error=repr(error))
        await asyncio.sleep(pause_seconds(resources))


async def _sweep_copies(resources: Resources) -> None:
    names = sorted(path.name for path in await asyncio.to_thread(lambda: list(resources.blobs.copies.iterdir())))
    least = resources.settings.storage_pause_seconds
    for name in await _find_unused(resources, names, [None] * len(names)):  # one that is still being fetched is held
        await asyncio.to_thread(remove_if_abandoned, resources.blobs.copies / name, older_than_seconds=least)


async def _find_unused(resources: Resources, keys: list[str], sizes: list[int] | list[None]) -> set[str]:
    class Key(Struct):
        key: str

    if not keys:
        return set()
    async with resources.database.transaction() as tx:
        rows = await tx.fetch_all(Key, "SELECT key FROM unused_blobs(%s::text[], %s::bigint[]) AS key", [keys, sizes])
    return {row.key for row in rows}


# In the worker: what is everybody's -----------------------------------------------------------------------------------


class Cleanup:
    """The rounds of one worker; others may make theirs at the same time."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._place = ""
        """How far the store was listed."""

    async def round(self) -> None:
        """Do some of everything.

        Raises:
            Unavailable: the database or the store is away.
        """
        if await self._is_ours():
            await self._free()
            await self._sweep()
        await self._check()

    async def _is_ours(self) -> bool:
        async with self._resources.database.transaction() as tx:
            deployment = str(await tx.fetch_value("SELECT id FROM deployment"))
        if await self._resources.blobs.is_of(deployment):
            return True
        log.warning(
            "storage.other_deployment", detail="another deployment's database owns the blob store: nothing is removed"
        )
        return False

    async def _free(self) -> None:
        """Take unused blobs off their tenants; those of nobody are deleted."""

        class Left(Struct):
            tenant_id: UUID
            key: str

        resources = self._resources
        async with resources.database.transaction() as tx:
            parameters = [resources.settings.storage_pause_seconds, FREED_AT_A_TIME]
            left = await tx.fetch_all(Left, "SELECT * FROM left_blobs(%s, %s)", parameters)
        for blob in left:
            async with resources.database.transaction(blob.tenant_id) as tx:
                if not await tx.fetch_value("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [blob.key]):
                    continue  # it is being named anew
                freed = await tx.execute(
                    "DELETE FROM blobs WHERE key = %s AND NOT EXISTS (SELECT FROM named_blobs WHERE key = %s)",
                    [blob.key, blob.key],
                )
                if not freed:
                    await tx.execute(_LOOK_AGAIN, [blob.key, blob.key])
            if freed:
                await drop_unused(resources, blob.key)

    async def _sweep(self) -> None:
        """Remove stored bytes that no record names: uploads killed before commit."""
        blobs, least = self._resources.blobs, self._resources.settings.storage_pause_seconds
        listed = await blobs.list_files(self._place, LISTED_AT_A_TIME)
        self._place = listed[-1].place if len(listed) == LISTED_AT_A_TIME else ""
        stored = [item for item in listed if item.is_blob]
        unused = await _find_unused(
            self._resources, [item.name for item in stored], [item.size_bytes for item in stored]
        )
        for item in listed:
            if item.seconds_old < least:
                continue
            if not item.is_blob:
                await asyncio.to_thread(blobs.remove_unfinished, item.place)
            elif item.name in unused:
                await drop_unused(self._resources, item.name)

    async def _check(self) -> None:
        """Read again what was not checked for longest."""
        resources, read_bytes = self._resources, 0
        while read_bytes < CHECKED_BYTES_AT_A_TIME:
            async with resources.database.transaction() as tx:
                key = await tx.fetch_value("SELECT claim_blob_check(%s)", [resources.settings.blob_check_seconds])
            if key is None:
                return
            try:
                read_bytes += await resources.blobs.check(key)
                async with resources.database.transaction() as tx:
                    await tx.execute(CLEAR_DAMAGE, [key])
            except Damaged:
                await report_damage(resources, key, str(new_id()))


async def clean_up_forever(resources: Resources, stopping: asyncio.Event) -> None:
    """Clean up until the process stops, through failures."""
    cleanup = Cleanup(resources)
    while not stopping.is_set():
        try:
            await cleanup.round()
        except (Problem, OSError) as error:
            log.warning("storage.cleanup_failed", error=repr(error))
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), pause_seconds(resources))


# What is found damaged ------------------------------------------------------------------------------------------------


class _GivenUp(Struct):
    kind: str
    id: str
    name: str
    reason: str


async def give_up(unit: Unit, arguments: dict[str, Any], _: str) -> None:
    """Leave in error what is read from the damaged blob."""
    for lost in await unit.fetch_all(_GivenUp, "SELECT * FROM give_up_blob(%s)", [arguments["key"]]):
        await unit.audit(f"{lost.kind}.check_failed", Subject(lost.kind, lost.id, lost.name, {"error": lost.reason}))


@jobs.job(CHECK, on_failure=give_up, on_retry=accept_retry)
async def check(unit: Unit, arguments: dict[str, Any]) -> None:
    """Check a blob that was reported damaged; a damaged one fails the job for good."""
    await unit.resources.blobs.check(arguments["key"])
    await unit.execute(CLEAR_DAMAGE, [arguments["key"]])
