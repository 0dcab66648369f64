"""Which blobs a tenant keeps: named and counted with the record that needs them, given up where they are damaged."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Final
from uuid import UUID

import structlog
from msgspec import Struct

from service.platform.base.problem import Problem
from service.platform.data.backup_store import BACKUP_LOCK
from service.platform.unit.context import Resources, Unit

CHECK: Final = "blobs.check"
"""The job that looks again at a blob that was found damaged."""

CLEAR_DAMAGE: Final = "SELECT clear_blob_damage(%s)"
"""The stored bytes are right: no tenant's row says otherwise any more."""

log = structlog.get_logger()


# Keeping --------------------------------------------------------------------------------------------------------------


async def keep(unit: Unit, path: Path, key: str) -> None:
    """Store a file as a blob of the unit's tenant; the record that names it belongs into the same transaction.

    Should that fail the blob goes again, unless somebody else has the same one.
    """
    await unit.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [key])  # nobody removes it now
    unit.on_rollback(partial(drop, unit.resources, key))
    size_bytes = (await asyncio.to_thread(path.stat)).st_size
    await unit.resources.blobs.put(path, key)
    await unit.execute(
        """
        INSERT INTO blobs (tenant_id, key, size_bytes) VALUES (%s, %s, %s)
        ON CONFLICT (tenant_id, key) DO UPDATE SET size_bytes = EXCLUDED.size_bytes, left_at = NULL
        """,
        [unit.tenant, key, size_bytes],
    )
    await unit.execute(CLEAR_DAMAGE, [key])


async def leave(unit: Unit, keys: list[str]) -> None:
    """A record ceases to name these: what no other one names is freed in a while, when nobody reads it any more."""
    await unit.execute(
        """
        UPDATE blobs SET left_at = now()
        WHERE tenant_id = %s AND key IN (SELECT key FROM blobs WHERE key = ANY (%s) ORDER BY key FOR UPDATE)
        """,
        [unit.tenant, keys],
    )


async def drop(resources: Resources, key: str) -> None:
    """Remove a blob that no committed record of any tenant names.

    Not where an open transaction holds it: that one names it, or drops it itself. Nor while a backup is made: a later
    sweep finds it.
    """
    async with resources.database.transaction() as tx:
        if not await tx.value("SELECT pg_try_advisory_xact_lock_shared(%s)", [BACKUP_LOCK]):
            return
        alone = await tx.value("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [key])
        if alone and not await tx.value("SELECT blob_is_used(%s)", [key]):
            await resources.blobs.delete(key)
            log.info("blob.removed", key=key)


async def keep_again(unit: Unit, keys: list[str]) -> bool:
    """Whether the tenant still has all of these blobs, which a record of this transaction names anew."""
    wanted = sorted(set(keys))
    for key in wanted:
        await unit.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [key])  # as `keep`
    return await unit.execute("UPDATE blobs SET left_at = NULL WHERE key = ANY (%s)", [wanted]) == len(wanted)


# Damage ---------------------------------------------------------------------------------------------------------------


class _Holder(Struct):
    tenant_id: UUID


async def report(resources: Resources, key: str, request_id: str) -> None:
    """Somebody met bytes that are not those of their key: everyone who has them is to know, once.

    A job of each of these tenants looks again, and gives up what is made of the blob. Where the database is away,
    whoever meets them next tells it.
    """
    log.error("blob.damaged", key=key)
    try:
        async with resources.database.transaction() as tx:
            holders = await tx.all(_Holder, "SELECT * FROM blob_holders(%s)", [key])
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
