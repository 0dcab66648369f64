"""Idempotency-Key: the answer to a POST is kept with its effect, for repetitions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from service.platform.base.caller import NOBODY
from service.platform.base.problem import AlreadyProcessed, KeyUsed, StillProcessing, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.data.database import Transaction
from service.platform.route.api import Raw, Route, Upload
from service.platform.unit.context import Context

HEADER = b"idempotency-key"
KEY = re.compile(rb"[\x21-\x7e]{1,255}")
CLAIM_SECONDS = 120
"""A request that works for longer than this must have died with its process: its repetition may begin anew."""
READ_BYTES = 1_048_576
REPLAYED = (b"idempotent-replayed", b"true")

log = structlog.get_logger()


class _Kept(Struct):
    request_hash: bytes
    status: int | None
    media_type: str | None
    headers: list[tuple[str, str]] | None
    content: bytes | None


class IdempotencyClaim:
    """The right of one request to be the first with its key."""

    def __init__(self, ctx: Context, caller: str, key: bytes, request_hash: bytes) -> None:
        self._ctx = ctx
        self._tenant = ctx.tenant_id or NOBODY
        self._row: dict[str, Any] = {
            "tenant": self._tenant,
            "caller": caller,
            "key": hashlib.sha256(key).digest(),
            "request": request_hash,
            "claim": new_id(),
            "lease": CLAIM_SECONDS,
            "life": ctx.settings.idempotency_seconds,
        }

    async def take(self) -> Raw | None:
        """Return None when this request is the first, else the first one's answer.

        Raises:
            KeyUsed: the first request was another one.
            StillProcessing: it has no answer yet.
            AlreadyProcessed: its answer was not kept.
        """
        async with self._ctx.resources.database.transaction(self._tenant) as tx:
            if await tx.fetch_value(_CLAIM, self._row) is not None:
                return None
            kept = await tx.fetch_one_or_none(_Kept, _READ, self._row)
        if kept is None:  # the first request was refused, or its answer expired, in between
            raise StillProcessing
        if kept.request_hash != self._row["request"]:
            raise KeyUsed
        if kept.status is None:
            raise StillProcessing
        if kept.content is None or kept.media_type is None:
            raise AlreadyProcessed
        headers = [*(kept.headers or ()), (REPLAYED[0].decode(), REPLAYED[1].decode())]
        return Raw(kept.content, kept.media_type, headers, kept.status)

    async def keep(
        self, route: Route, status: int, media_type: str, content: bytes, headers: Sequence[tuple[bytes, bytes]]
    ) -> None:
        """Write the answer with its effect; of one with a secret only that it was.

        Where the effect belongs to a tenant that was not known before, the answer is written after its commit.

        Raises:
            StillProcessing: a repetition has taken the key over.
        """
        whole = not route.tells_secrets and len(content) <= self._ctx.settings.max_replay_bytes
        stored = [(name.decode(), value.decode()) for name, value in headers if name != b"set-cookie"]  # it has a token
        answer = self._row | {
            "status": status,
            "media_type": media_type if whole else None,
            "headers": msgspec.json.encode(stored).decode() if whole else None,
            "content": content if whole else None,
        }
        if self._ctx.tenant_id == self._tenant:
            if not await self._ctx.execute(_KEEP, answer):
                raise StillProcessing  # it took so long that a repetition has begun anew: one of them has the effect
        else:
            self._ctx.after_commit(lambda: self._alone(_KEEP, answer))

    async def release(self) -> None:
        """Give the key back: a refused request may be corrected and sent again.

        Never raises: a key that could not be given back is free after CLAIM_SECONDS.
        """
        try:
            await self._alone(_RELEASE, self._row)
        except Exception as error:
            log.warning("idempotency.release_failed", error=repr(error))

    async def _alone(self, sql: str, row: dict[str, Any]) -> None:
        tx: Transaction
        async with self._ctx.resources.database.transaction(self._tenant) as tx:
            await tx.execute(sql, row)


def is_keyed(ctx: Context, route: Route) -> bool:
    """Return whether a request may be the repetition of another."""
    return route.method == "POST" and HEADER in ctx.headers


async def claim_of(
    ctx: Context, route: Route, path: str, query: bytes, content: bytes | dict[str, Any]
) -> IdempotencyClaim | None:
    """Return the claim of a request; None without a key.

    Raises:
        ValidationFailed: the key is empty, too long, or not printable.
    """
    if not is_keyed(ctx, route):
        return None
    key = ctx.headers[HEADER]
    if not KEY.fullmatch(key):
        raise ValidationFailed.at(["header", HEADER.decode()], "expected 1 to 255 printable ASCII characters")
    digest = await ctx.compute(_hash, f"{path}?".encode() + query, content)
    # With the deployment's secret: who reads the table alone cannot try passwords against the hash of a login.
    request_hash = ctx.resources.vault.fingerprint("idempotent request", digest.hex())
    return IdempotencyClaim(ctx, _name(ctx), key, request_hash)


def _name(ctx: Context) -> str:
    caller = ctx.known_caller
    if caller is None:
        return f"address {ctx.origin}"
    return f"key {caller.api_key_id}" if caller.api_key_id else f"{caller.kind} {caller.user_id}"


def _hash(place: bytes, content: bytes | dict[str, Any]) -> bytes:
    digest = hashlib.sha256(_frame(place))
    if isinstance(content, bytes):
        digest.update(content)
        return digest.digest()
    for name in sorted(content):  # not the bytes of a form: each sender draws a new boundary
        digest.update(_frame(name.encode()))
        values = content[name]
        for value in values if isinstance(values, list) else [values]:
            if not isinstance(value, Upload):
                digest.update(_frame(value.encode()))
                continue
            digest.update(_frame(value.file_name.encode()) + b"%d:" % value.size_bytes)
            while chunk := value.file.read(READ_BYTES):
                digest.update(chunk)
            value.file.seek(0)
    return digest.digest()


def _frame(part: bytes) -> bytes:
    return b"%d:%s," % (len(part), part)


_CLAIM = """
INSERT INTO idempotency_keys AS kept (tenant_id, caller, key_hash, request_hash, claim, claimed_until, expires_at)
VALUES (%(tenant)s, %(caller)s, %(key)s, %(request)s, %(claim)s,
        now() + make_interval(secs => %(lease)s), now() + make_interval(secs => %(life)s))
ON CONFLICT (tenant_id, caller, key_hash) DO UPDATE
SET request_hash = EXCLUDED.request_hash, claim = EXCLUDED.claim, claimed_until = EXCLUDED.claimed_until,
    status = NULL, media_type = NULL, headers = NULL, content = NULL, expires_at = EXCLUDED.expires_at
WHERE kept.expires_at <= now() OR (kept.status IS NULL AND kept.claimed_until <= now())
RETURNING claim
"""

_READ = """
SELECT request_hash, status, media_type, headers, content FROM idempotency_keys
WHERE caller = %(caller)s AND key_hash = %(key)s
"""

_KEEP = """
UPDATE idempotency_keys
SET status = %(status)s, media_type = %(media_type)s, headers = %(headers)s::json, content = %(content)s
WHERE caller = %(caller)s AND key_hash = %(key)s AND claim = %(claim)s
"""

# An answer that was kept stays, whatever went wrong after its commit.
_RELEASE = """
DELETE FROM idempotency_keys
WHERE caller = %(caller)s AND key_hash = %(key)s AND claim = %(claim)s AND status IS NULL
"""
