"""The blobs of a tenant: stored, counted, released, and given up where damaged."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Final
from uuid import UUID

import structlog
from msgspec import Struct

from service.platform.base.problem import Problem
from service.platform.unit.context import Resources, Unit

CHECK: Final = "blobs.check"
"""The job that looks again at a blob that was found damaged."""
BACKUP_LOCK: Final = 0x4241434B
"""The advisory lock of a backup: what it has read the names of stays in the store until it has the bytes."""

CLEAR_DAMAGE: Final = "SELECT clear_blob_damage(%s)"
"""The stored bytes are right: no tenant's row says otherwise any more."""

log = structlog.get_logger()


# Keeping --------------------------------------------------------------------------------------------------------------


async def store_blob(unit: Unit, path: Path, key: str) -> None:
    """Store a file as a blob of the tenant, in its record's transaction.

    Should that fail the blob is removed again, unless another record names it.
    """
    await count_blob(unit, key, await put_blob(unit, path, key))


async def put_blob(unit: Unit, path: Path, key: str) -> int:
    """Store the bytes of `store_blob` alone, which waits for the store, and return how many there are.

    What others need is locked later.
    """
    await unit.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [key])  # nobody removes it now
    unit.on_rollback(partial(drop_unused, unit.resources, key))
    size_bytes = (await asyncio.to_thread(path.stat)).st_size
    await unit.resources.blobs.put(path, key)
    return size_bytes


async def count_blob(unit: Unit, key: str, size_bytes: int) -> None:
    """Count a blob whose bytes are put as one of the tenant's."""
    await unit.execute(
        """
        INSERT INTO blobs (tenant_id, key, size_bytes) VALUES (%s, %s, %s)
        ON CONFLICT (tenant_id, key) DO UPDATE SET size_bytes = EXCLUDED.size_bytes, left_at = NULL
        """,
        [unit.tenant, key, size_bytes],
    )
    await unit.execute(CLEAR_DAMAGE, [key])


async def release(unit: Unit, keys: list[str]) -> None:
    """Release blobs of a record; what no other record names is freed in a while."""
    await unit.execute(
        """
        UPDATE blobs SET left_at = now()
        WHERE tenant_id = %s AND key IN (SELECT key FROM blobs WHERE key = ANY (%s) ORDER BY key FOR UPDATE)
        """,
        [unit.tenant, keys],
    )


async def drop_unused(resources: Resources, key: str) -> None:
    """Remove a blob that no committed record of any tenant names.

    Not where an open transaction holds it: that one names it, or drops it itself. Nor while a backup is made: a later
    sweep finds it.
    """
    async with resources.database.transaction() as tx:
        if not await tx.fetch_value("SELECT pg_try_advisory_xact_lock_shared(%s)", [BACKUP_LOCK]):
            return
        alone = await tx.fetch_value("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [key])
        if alone and not await tx.fetch_value("SELECT blob_is_used(%s)", [key]):
            await resources.blobs.delete(key)
            log.info("blob.removed", key=key)


async def reclaim(unit: Unit, keys: list[str]) -> bool:
    """Name blobs anew in this transaction; return whether the tenant still has all."""
    wanted = sorted(set(keys))
    for key in wanted:
        await unit.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [key])  # as `store_blob`
    return await unit.execute("UPDATE blobs SET left_at = NULL WHERE key = ANY (%s)", [wanted]) == len(wanted)


# Damage ---------------------------------------------------------------------------------------------------------------


class _Holder(Struct):
    tenant_id: UUID


async def report_damage(resources: Resources, key: str, request_id: str) -> None:
    """Report damaged bytes to every tenant that has them, once.

    A job of each of these tenants looks again, and gives up what is made of the blob. Where the database is away, the
    next reader reports them.
    """
    log.error("blob.damaged", key=key)
    try:
        async with resources.database.transaction() as tx:
            holders = await tx.fetch_all(_Holder, "SELECT * FROM blob_holders(%s)", [key])
        for holder in holders:
            await _mark(Unit(resources, holder.tenant_id, request_id=request_id), key)
    except Problem as error:
        log.warning("blob.damage_not_reported", key=key, error=type(error).__name__)


async def _mark(unit: Unit, key: str) -> None:
    try:
        if await unit.execute("UPDATE blobs SET damaged_at = now() WHERE key = %s AND damaged_at IS NULL", [key]):
            await unit.enqueue(CHECK, queue="priority", arguments={"key": key})
        await unit.commit()
    except BaseException as error:
        await unit.rollback(error)
        raise
