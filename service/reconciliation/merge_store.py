"""The issues of a tape and a workbook brought in line with what a comparison found: one transaction, by the million."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from service.platform.data.database import BulkTransaction
from service.platform.unit.context import Unit
from service.platform.unit.records import to_json
from service.reconciliation.issue_store import LOCK_PAIR
from service.reconciliation.schema import Changes
from service.reconciliation.store import JobRow

BLOCK_BYTES = 1024 * 1024
MERGE_MEMORY = "256MB"
"""Of each sort and join while issues are merged; a million of them sort in it."""
JOINS_OFF = ("enable_hashjoin", "enable_nestloop")
"""A merge join is left, whatever the statistics say: rows are changed in the order of the keys, in which they were
written, so that pages and indexes are gone through once. In the order of a hash it takes two to three times as long."""


class Merge(Struct, frozen=True, kw_only=True):
    """What a comparison found, and how far it looked."""

    job: JobRow
    path: Path
    """Issues in the text format of COPY, with the columns that `columns` names."""
    columns: tuple[str, ...]
    looked_at: list[str]
    """Rules whose issues are gone where they were not found again."""
    passed_over: list[str]
    """Fields that could not be compared, so nothing is known of their issues."""


_FOUND_COLUMNS = """
    loan_key, primary_identifier, cusip, identifier_type, borrower_name, issue_type, severity, category, field_name,
    rule, trustee_value, internal_value, trustee_row, internal_row
"""

_MAKE_FOUND = """
CREATE TEMPORARY TABLE found (
    loan_key text COLLATE "C", primary_identifier text, cusip text, identifier_type text, borrower_name text,
    issue_type text COLLATE "C", severity text, category text, field_name text COLLATE "C", rule text,
    trustee_value text, internal_value text, trustee_row text, internal_row text
) ON COMMIT DROP
"""

_OF_PAIR = "i.tape_id = %(tape_id)s AND i.workbook_id = %(workbook_id)s"

_SAME_KEY = f"""
    {_OF_PAIR} AND i.loan_key = f.loan_key AND i.field_name = f.field_name AND i.issue_type = f.issue_type
"""

_SAME_VALUES = "((i.trustee_value, i.internal_value) = (f.trustee_value, f.internal_value))"

_GONE_NOTE = "No longer found by comparison "

_UPDATE_FOUND = f"""
UPDATE reconciliation_issues i
SET primary_identifier = nullif(f.primary_identifier, ''), cusip = nullif(f.cusip, ''),
    identifier_type = f.identifier_type, borrower_name = nullif(f.borrower_name, ''), severity = f.severity,
    category = f.category, rule = f.rule, trustee_value = f.trustee_value, internal_value = f.internal_value,
    status = CASE WHEN {_SAME_VALUES} AND NOT i.gone THEN i.status ELSE 'open' END,
    reviewed_by = CASE WHEN {_SAME_VALUES} AND NOT i.gone THEN i.reviewed_by END,
    reviewed_at = CASE WHEN {_SAME_VALUES} AND NOT i.gone THEN i.reviewed_at END,
    resolution_notes = CASE WHEN NOT i.gone THEN i.resolution_notes
        ELSE nullif(regexp_replace(i.resolution_notes, E'(^|\\n){_GONE_NOTE}[^\\n]*$', ''), '') END,
    gone = false, updated_at = now()
FROM found f
WHERE {_SAME_KEY} AND (
    i.gone OR NOT {_SAME_VALUES}
    OR (i.severity, i.category, i.rule, i.identifier_type) <> (f.severity, f.category, f.rule, f.identifier_type)
    OR (i.primary_identifier, i.cusip, i.borrower_name)
       IS DISTINCT FROM (nullif(f.primary_identifier, ''), nullif(f.cusip, ''), nullif(f.borrower_name, ''))
)
"""

_ROWS = "nullif(f.trustee_row, '')::integer, nullif(f.internal_row, '')::integer"

_UPDATE_ROWS = f"""
UPDATE reconciliation_issues i SET (trustee_row, internal_row) = ROW ({_ROWS})
FROM found f WHERE {_SAME_KEY} AND (i.trustee_row, i.internal_row) IS DISTINCT FROM ({_ROWS})
"""
"""Rows of a sheet are no part of what an issue says: one that stands elsewhere now counts as no change."""

_RESOLVE_GONE = f"""
UPDATE reconciliation_issues i
SET status = 'resolved', gone = true, reviewed_by = NULL, reviewed_at = NULL, updated_at = now(),
    resolution_notes = concat_ws(
        E'\\n', i.resolution_notes,
        '{_GONE_NOTE}' || %(job_id)s || '.'
        || CASE WHEN i.reviewed_by IS NULL THEN '' ELSE ' Before: ' || i.status || ', ' || i.reviewed_by || '.' END)
WHERE {_OF_PAIR} AND i.rule = ANY(%(looked_at)s) AND NOT i.field_name = ANY(%(passed_over)s)
  AND NOT i.gone AND NOT EXISTS (SELECT FROM found f WHERE {_SAME_KEY})
"""

# In the order of the keys, and identifiers in that order too: each index grows at its end, which halves the time.
_INSERT_NEW = f"""
INSERT INTO reconciliation_issues (tenant_id, id, tape_id, workbook_id, loan_key, primary_identifier, cusip,
                                   identifier_type, borrower_name, issue_type, severity, category, rule, field_name,
                                   trustee_value, internal_value, trustee_row, internal_row)
SELECT %(tenant_id)s, 'iss_' || %(series)s || lpad(to_hex(row_number() OVER in_order), 12, '0'), %(tape_id)s,
       %(workbook_id)s, loan_key, nullif(primary_identifier, ''), nullif(cusip, ''), identifier_type,
       nullif(borrower_name, ''), issue_type, severity, category, rule, field_name, trustee_value, internal_value,
       {_ROWS}
FROM found f
WHERE NOT EXISTS (SELECT FROM reconciliation_issues i WHERE {_SAME_KEY})
WINDOW in_order AS (ORDER BY loan_key, field_name, issue_type)
"""

_FORGET_COUNTS = "DELETE FROM reconciliation_counts WHERE tape_id = %(tape_id)s AND workbook_id = %(workbook_id)s"

_COUNT = """
INSERT INTO reconciliation_counts (tenant_id, tape_id, workbook_id, severity, category, status, issues)
SELECT tenant_id, tape_id, workbook_id, severity, category, status, count(*)
FROM reconciliation_issues WHERE tape_id = %(tape_id)s AND workbook_id = %(workbook_id)s
GROUP BY tenant_id, tape_id, workbook_id, severity, category, status
"""

_MERGED = """
SELECT changes FROM reconciliations WHERE id = %(job_id)s AND status = 'processing'
"""

_MERGED_LATER = """
SELECT array_agg(DISTINCT rule) FROM reconciliations earlier
JOIN reconciliations later USING (tenant_id, tape_id, workbook_id) CROSS JOIN unnest(later.rules) rule
WHERE earlier.id = %(job_id)s AND later.created_at > earlier.created_at AND later.changes IS NOT NULL
"""

_KEEP_CHANGES = "UPDATE reconciliations SET changes = %(changes)s WHERE id = %(job_id)s"


async def merge(unit: Unit, comparison: Merge, *, series: str, seconds_max: int) -> Changes | None:
    """Merge a comparison's issues into the stored ones.

    Return None where the comparison is over already.
    """
    parameters: dict[str, Any] = {
        "tenant_id": unit.tenant,
        "tape_id": comparison.job.tape_id,
        "workbook_id": comparison.job.workbook_id,
        "job_id": comparison.job.id,
        "passed_over": comparison.passed_over,
        "series": series,
    }
    async with unit.resources.database.bulk(unit.tenant, seconds_max=seconds_max) as tx:
        await _load(tx, comparison)
        await tx.execute(LOCK_PAIR, parameters)  # one merge, or one review, of this pair at a time
        job = await tx.fetch_one_or_none(_Merged, _MERGED, parameters)
        if job is None:
            return None
        if job.changes is not None:  # an earlier run died before it could say so
            return job.changes
        parameters["looked_at"] = await _rules_left(tx, comparison, parameters)
        updated = await tx.execute(_UPDATE_FOUND, parameters)
        await tx.execute(_UPDATE_ROWS, parameters)
        resolved = await tx.execute(_RESOLVE_GONE, parameters)
        created = await tx.execute(_INSERT_NEW, parameters)
        await tx.execute(_FORGET_COUNTS, parameters)
        await tx.execute(_COUNT, parameters)
        changes = Changes(created=created, updated=updated, resolved=resolved)
        await tx.execute(_KEEP_CHANGES, {"changes": to_json(changes), "job_id": comparison.job.id})
    return changes


class _Merged(Struct, frozen=True):
    changes: Changes | None


async def _rules_left(tx: BulkTransaction, comparison: Merge, parameters: dict[str, Any]) -> list[str]:
    """Return the rules that no later comparison has merged.

    The issues of the others are dropped.
    """
    later = await tx.fetch_value(_MERGED_LATER, parameters)
    if later is None:
        return comparison.looked_at
    remaining = [
        rule for rule in comparison.job.rules if rule not in later
    ]  # each looks at those that are not asked for
    await tx.execute("DELETE FROM found WHERE NOT rule = ANY(%s)", [remaining])
    return remaining


async def _load(tx: BulkTransaction, comparison: Merge) -> None:
    assert set(comparison.columns) == {column.strip() for column in _FOUND_COLUMNS.split(",")}
    await tx.execute("SELECT set_config('work_mem', %s, true)", [MERGE_MEMORY])
    for join in JOINS_OFF:
        await tx.execute("SELECT set_config(%s, 'off', true)", [join])
    await tx.execute(_MAKE_FOUND)
    await tx.copy(f"COPY found ({_FOUND_COLUMNS}) FROM STDIN", _blocks(comparison.path))
    await tx.execute("ANALYZE found")


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block
