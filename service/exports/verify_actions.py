"""Telling of a file whether it is an export as it was made, in children, since anybody may have written it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from core.confined.run import ChildKilled, run
from core.confined.table import MEGABYTE, ConfinedWork
from core.files.errors import FileRefused
from core.provenance.manifest import Manifest
from core.provenance.verify import FileVerdict
from service.documents import shared as documents
from service.exports import schema, store
from service.exports.child import CLAIM, VERIFY, ClaimOrder, VerifyOrder
from service.exports.signing_actions import manifest_key
from service.platform.base.problem import PayloadTooLarge, Unavailable
from service.platform.data.scratch import folder_for
from service.platform.route.api import Upload
from service.platform.unit.context import Context
from service.platform.unit.records import narrow

O = TypeVar("O")  # noqa: E741 - an order
A = TypeVar("A")

FILE: Final = ["body", "file"]
EXPORT_ID: Final = re.compile(r"exp_[0-9a-f]{32}")
_SAID: Final = ("export_id", "workbook_id", "tenant_id", "manifest_version", "hash_scope")
"""What a file says of itself."""


async def verify(ctx: Context, form: schema.VerifyForm) -> schema.Verification:
    """Return what a file is, measured by the record of the export that it says it is.

    Raises:
        InvalidRequest: it is no .xlsx file, or empty.
        PayloadTooLarge: it is larger than an upload may be.
        OtherTenantsFile: it is a true export of another tenant.
    """
    _check(ctx, form.file)
    with folder_for(ctx.resources.scratch, "verify") as folder:
        path = folder / "file.xlsx"
        await ctx.resources.probes(ctx.tenant_key, _copy, form.file, path)
        claim = await _child(ctx, CLAIM, ClaimOrder(path=str(path)), [str(path)])
        order = VerifyOrder(path=str(path))
        if claim.signed is not None:
            manifest = claim.signed.manifest
            key = manifest_key(ctx, manifest.export_id)
            if claim.signed.is_signed_with(key) and manifest.tenant_id != str(ctx.tenant):
                raise schema.OtherTenantsFile
            order = await _order(ctx, path, manifest, key)
        await ctx.commit()  # no connection is held while the file is read
        reads = [order.path, *([order.prints_path] if order.prints_path else [])]
        return _to_response(await _child(ctx, VERIFY, order, reads), order)


def _check(ctx: Context, file: Upload) -> None:
    if file.size_bytes > ctx.settings.max_upload_mb * MEGABYTE:
        raise PayloadTooLarge.at(FILE, f"the limit is {ctx.settings.max_upload_mb} MB")
    if not file.size_bytes:
        raise schema.InvalidRequest.at(FILE, "the file is empty")
    if not file.file_name.lower().endswith(".xlsx"):
        raise schema.InvalidRequest.at(FILE, "the file's name must end in .xlsx")


def _copy(file: Upload, path: Path) -> None:
    with path.open("wb") as copy:
        shutil.copyfileobj(file.file, copy, MEGABYTE)


async def _child(ctx: Context, work: ConfinedWork[O, A], order: O, reads: Sequence[str]) -> A:
    try:
        return await ctx.resources.probes(
            ctx.tenant_key,
            run,
            work,
            order,
            reads=reads,
            memory_bytes_max=ctx.settings.parse_memory_mb * MEGABYTE,
            seconds_max=ctx.settings.probe_seconds,
        )
    except FileRefused as refusal:
        raise schema.InvalidRequest.at(FILE, refusal.hint) from None
    except ChildKilled as killed:  # which says nothing of the file
        raise Unavailable from killed


async def _order(ctx: Context, path: Path, manifest: Manifest, key: bytes) -> VerifyOrder:
    """Return the file with what is known of the export that it says it is."""
    data_hash, prints_path = None, None
    record = None
    if EXPORT_ID.fullmatch(manifest.export_id):  # what else it may say need not fit into a query
        with suppress(schema.ExportNotFound):
            record = await store.documents.get(ctx, manifest.export_id)
    if record is not None:
        if record.provenance is not None:
            data_hash = str(record.provenance["data_hash"])
        if record.fingerprints_id is not None:
            prints = await documents.get(ctx, record.fingerprints_id)
            if prints.is_there and prints.key is not None:
                prints_path = str(await ctx.resources.blobs.path(prints.key))
    return VerifyOrder(
        path=str(path),
        keys={manifest.key_id: key},
        data_hash=data_hash,
        prints_path=prints_path,
        prints_key=key,
    )


def _to_response(verdict: FileVerdict, order: VerifyOrder) -> schema.Verification:
    manifest, status, reason = verdict.manifest, verdict.status, verdict.reason
    if order.data_hash is None and verdict.hmac_valid:
        status, reason = "unknown", "There is no record of this export."
    manifest_fields = {name: getattr(manifest, name, None) for name in _SAID}
    return schema.Verification(
        status=status,
        reason=reason,
        data_hash=verdict.data_hash,
        expected_hash=verdict.expected_hash,
        hmac_valid=bool(verdict.hmac_valid),
        diffs=[narrow(schema.CellDiff, diff) for diff in verdict.diffs],
        diffs_truncated=verdict.diffs_truncated,
        sheets_not_covered=list(verdict.beside),
        findings=[narrow(schema.VerifyFinding, finding) for finding in verdict.findings],
        not_looked_at=list(verdict.not_looked_at),
        **manifest_fields,
    )
