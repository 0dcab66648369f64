"""A trustee's tape on its way in.

Looked at, kept, and handed to the worker that reads its loans.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, NamedTuple, get_args
from uuid import UUID

from core.files.kinds import WORKBOOK_EXTENSIONS
from service.mappings.shared import check_mapping
from service.platform.base.secrets import new_id
from service.platform.route.api import Upload
from service.platform.unit.context import Context
from service.platform.work.jobs import SMALL_BYTES
from service.reconciliation import store
from service.reconciliation.schema import InvalidDate, InvalidTrustee, TapeUploaded, Trustee
from service.workbooks import shared as workbooks

TRUSTEES: Final[tuple[str, ...]] = get_args(Trustee)

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class TapeAbout(NamedTuple):
    """What a user says of a tape that is uploaded."""

    trustee_name: str
    statement_date: str
    mapping_id: str | None = None
    deal_id: UUID | None = None
    as_of: date | None = None


async def take_in_tape(
    ctx: Context, field: str, file: Upload, about: TapeAbout, extensions: workbooks.Extensions = WORKBOOK_EXTENSIONS
) -> TapeUploaded:
    """Store a trustee's file and queue its reading; keep no refused one.

    Args:
        field: the form's field that has the file.
        extensions: what the file's name may end in.

    Raises:
        InvalidTrustee, InvalidDate: the trustee or the day is none.
        MappingNotFound, DealNotFound: what it names is not there.
        Problem: as `workbooks.receive`.
    """
    if about.trustee_name not in TRUSTEES:
        raise InvalidTrustee.at(["body", "trustee_name"], f"the trustees are {', '.join(TRUSTEES)}")
    statement_date = _date(about.statement_date)
    if about.mapping_id is not None:
        await check_mapping(ctx, about.mapping_id)
    if about.deal_id is not None:
        await workbooks.check_deal(ctx, about.deal_id)
    [received] = await workbooks.receive(ctx, field, [file], extensions)
    tape_id, email = f"tape_{new_id().hex}", await ctx.email()
    job_id = await have_read(ctx, tape_id, file.size_bytes)
    await store.tapes.add(
        ctx,
        {
            **about._asdict(),
            "id": tape_id,
            "job_id": job_id,
            "statement_date": statement_date,
            "file_name": file.file_name,
            "file_size": file.size_bytes,
            "content_hash": received.key,
            "processing_status": "processing",
            "created_by": email,
        },
    )
    ctx.set_subject("tape", tape_id, file.file_name, trustee_name=about.trustee_name, file_size=file.size_bytes)
    message = "The tape was taken in; its loans can be read and compared once it is completed."
    return TapeUploaded(tape_id=tape_id, job_id=job_id, status="processing", message=message)


async def have_read(ctx: Context, tape_id: str, size_bytes: int) -> str:
    """Hand a tape to the worker that reads it; the identifier of that job."""
    task_id = await ctx.enqueue(
        "reconciliation.read_tape", queue="parse", arguments={"tape_id": tape_id}, small=size_bytes <= SMALL_BYTES
    )
    return task_id.replace("task_", "job_")


def _date(text: str) -> date:
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise InvalidDate.at(["body", "statement_date"], "expected a date as YYYY-MM-DD")
