"""The look back's decisions: what is told of an event, and whether the chain that it stands in holds."""

from __future__ import annotations

from datetime import time as clock_time
from typing import Final

import core
from service.activity.schema import Occurrence, told
from service.compliance import lookback_store as store
from service.compliance.lookback_schema import Chain, Lookback, LookbackEvent, LookbackEvents, Proof
from service.platform.base.moments import moment
from service.platform.data.audit import START
from service.platform.unit.context import Context

SPAN_MAX: Final = 10_000
"""Entries between the first and the last event of an answer that are checked: about a tenth of a second."""
_EVIDENCE: Final = "evidence"
"""What an entry calls the hash of its run."""


async def look_back(ctx: Context, asked: Lookback, place: str) -> LookbackEvents:
    """A part of the events that match, the newest first, with whether they are as they were written.

    Args:
        place: where the filters stand in the request: query or body.
    """
    since = moment([place, "start_date"], asked.start_date) if asked.start_date is not None else None
    until = moment([place, "end_date"], asked.end_date, at=clock_time.max) if asked.end_date is not None else None
    found, total = await store.events(ctx, asked, since, until)
    last = found[0].sequence if found else 0
    first = max(found[-1].sequence, last - SPAN_MAX + 1) if found else 1
    span = await store.span(ctx, first, last)
    holds = span.is_whole and span.has_end and span.count == last - first + 1
    return LookbackEvents(
        items=[_event(one, asked) for one in found],
        total=total,
        offset=asked.offset,
        limit=asked.limit,
        chain=Chain(
            verified=holds and all(one.is_whole and _is_kept(one) is not False for one in found),
            first_sequence=first if found else None,
            last_sequence=last if found else None,
        ),
    )


def _is_kept(found: store.Found) -> bool | None:
    """Whether a run is the one that its entry tells of; None where the entry has no hash of one, or it has expired."""
    said = found.details.get(_EVIDENCE) if found.resource_type == "compliance_run" else None
    return None if said is None or found.is_expired else said == found.evidence


def _event(found: store.Found, asked: Lookback) -> LookbackEvent:
    seen = Occurrence(
        id=found.id,
        action=found.action,
        entity_type=found.resource_type,
        entity_id=found.resource_id,
        entity_name=found.resource_name,
        user_id=found.user_id,
        user_email=found.user_email,
        api_key_id=found.api_key_id,
        created_at=found.occurred_at,
    )
    kept = _is_kept(found)
    proof = Proof(
        sequence=found.sequence,
        hash=found.hash,
        previous_hash=START.hex() if found.sequence == 1 else found.before or "",
        is_whole=found.is_whole,
        evidence_hash=None if kept is None else found.details[_EVIDENCE],
        evidence_verified=kept,
        engine_version=found.engine_version,
        is_present_engine=None if found.engine_version is None else found.engine_version == core.__version__,
        inputs_kept=found.inputs_kept,
        inputs_kept_until=found.inputs_kept_until,
    )
    return LookbackEvent(
        event_id=found.id,
        event_type=found.action,
        event_category=found.category,
        occurred_at=found.occurred_at,
        actor_id=found.user_id,
        actor_email=found.user_email,
        subject_type=found.resource_type,
        subject_id=found.resource_id,
        stream_key=found.stream,
        summary=told(seen).description,
        inputs=found.inputs,
        outputs=found.outputs,
        changes=found.details if asked.include_changes else None,
        proof=proof if asked.include_proof else None,
    )
