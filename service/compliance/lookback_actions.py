"""The look back's decisions: an event's fields, and whether its chain holds."""

from __future__ import annotations

from datetime import time as clock_time
from typing import Final

import core
from service.activity.schema import Occurrence, to_item
from service.compliance import lookback_store as store
from service.compliance.lookback_schema import Chain, Lookback, LookbackEvent, LookbackEvents, Proof
from service.platform.base.moments import moment
from service.platform.data.audit import START
from service.platform.unit.context import Context

SPAN_MAX: Final = 10_000
"""Entries between the first and the last event of an answer that are checked: about a tenth of a second."""
_EVIDENCE: Final = "evidence"
"""What an entry calls the hash of its run."""


async def look_back(ctx: Context, query: Lookback, place: str) -> LookbackEvents:
    """Return some of the matching events, newest first, with proof.

    Args:
        place: where the filters stand in the request: query or body.
    """
    since = moment([place, "start_date"], query.start_date) if query.start_date is not None else None
    until = moment([place, "end_date"], query.end_date, at=clock_time.max) if query.end_date is not None else None
    events, total = await store.events(ctx, query, since, until)
    last = events[0].sequence if events else 0
    first = max(events[-1].sequence, last - SPAN_MAX + 1) if events else 1
    span = await store.span(ctx, first, last)
    holds = span.is_whole and span.has_end and span.count == last - first + 1
    return LookbackEvents(
        items=[_event(event, query) for event in events],
        total=total,
        offset=query.offset,
        limit=query.limit,
        chain=Chain(
            verified=holds and all(event.is_whole and _is_kept(event) is not False for event in events),
            first_sequence=first if events else None,
            last_sequence=last if events else None,
        ),
    )


def _is_kept(event: store.EventRow) -> bool | None:
    """Return whether a run is as its entry has it, or a batch's list of runs.

    None where the entry has no hash, or the run has expired.
    """
    recorded_hash = event.details.get(_EVIDENCE) if event.resource_type in ("compliance_run", "batch") else None
    return None if recorded_hash is None or event.is_expired else recorded_hash == event.evidence


def _event(event: store.EventRow, query: Lookback) -> LookbackEvent:
    occurrence = Occurrence(
        id=event.id,
        action=event.action,
        entity_type=event.resource_type,
        entity_id=event.resource_id,
        entity_name=event.resource_name,
        user_id=event.user_id,
        user_email=event.user_email,
        api_key_id=event.api_key_id,
        created_at=event.occurred_at,
    )
    is_kept = _is_kept(event)
    proof = Proof(
        sequence=event.sequence,
        hash=event.hash,
        previous_hash=START.hex() if event.sequence == 1 else event.before or "",
        is_whole=event.is_whole,
        evidence_hash=None if is_kept is None else event.details[_EVIDENCE],
        evidence_verified=is_kept,
        engine_version=event.engine_version,
        is_present_engine=None if event.engine_version is None else event.engine_version == core.__version__,
        inputs_kept=event.inputs_kept,
        inputs_kept_until=event.inputs_kept_until,
    )
    return LookbackEvent(
        event_id=event.id,
        event_type=event.action,
        event_category=event.category,
        occurred_at=event.occurred_at,
        actor_id=event.user_id,
        actor_email=event.user_email,
        subject_type=event.resource_type,
        subject_id=event.resource_id,
        stream_key=event.stream,
        summary=to_item(occurrence).description,
        inputs=event.inputs,
        outputs=event.outputs,
        changes=event.details if query.include_changes else None,
        proof=proof if query.include_proof else None,
    )
