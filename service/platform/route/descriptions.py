"""What the OpenAPI document says of each field: its own words where it stands, else the words of its name."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

SHARED: Final = {
    # what is the same everywhere
    "id": "By which other requests and records name it",
    "name": "What people call it",
    "description": "What it is for, in free text",
    "enabled": "Whether it works; false keeps it, switched off",
    "message": "What came of it, in a sentence",
    "created_at": "When it was created, in UTC",
    "created_by": "E-mail address of the user who created it; of an API key, its creator's",
    "updated_at": "When it was last changed, in UTC",
    "completed_at": "When it ended, in UTC. Null: not yet",
    "started_at": "When the work began, in UTC. Null: not yet",
    "resolved_at": "When it was marked as resolved, in UTC. Null: not yet",
    "executed_at": "When the tests were run, in UTC",
    "timestamp": "When this was looked at, in UTC",
    "at": "When it happened, in UTC",
    # pages
    "items": "The records of this answer",
    "total": "How many there are, on all pages",
    "page": "The page that this is, from 1",
    "page_size": "How many a page holds at most",
    "total_pages": "How many pages there are",
    "limit": "How many an answer holds at most",
    "offset": "How many were passed over",
    "skip": "How many were passed over",
    "sort_by": "Field by which the list is ordered",
    "sort_order": "asc: smallest or oldest first; desc: largest or newest first",
    # refusals
    "detail": "What is wrong, in one sentence; its wording is part of the contract",
    "error_code": "Kind of refusal, for programs",
    "errors": "Every single fault with its place, where there is more to say",
    "request_id": "The X-Request-ID that was sent, else one that the service made; logs carry it too",
    # who and what
    "tenant_id": "The organization that it belongs to",
    "user_id": "Which user, by the `id` that GET /api/v1/admin/users tells",
    "email": "E-mail address, by which the user logs in",
    "full_name": "First and last name, as others see it",
    "role": (
        "owner: everything; admin: all but making owners and ending the tenant; analyst: all work with portfolios; "
        "viewer: only reads"
    ),
    "permissions": "Scopes, such as workbooks:read; never more than the role of who makes the key has",
    "environment": "live or test, which the key's prefix tells (svc_live_, svc_test_); both reach the same data",
    "send_email": "Send the invitation by e-mail; false: hand its token over yourself",
    "two_factor_enabled": "Whether a login needs a code of an authenticator",
    "action": "What was done, as entity.verb: workbook.uploaded",
    "event": "What happened, as entity.verb: compliance.completed",
    "event_category": "First word of the event's type, such as compliance or workbook",
    "resource_type": "Kind of record: workbook, user, api_key, ...",
    "resource_id": "The record that it is about",
    "workbook_id": "Which workbook, by the `id` that its upload answered",
    "deal_id": "Which deal, by the `id` that making it answered",
    "tape_id": "Which tape, by the `tape_id` that its upload answered",
    "job_id": "Which background job, by the `job_id` that beginning it answered",
    "mapping_id": "Which mapping, by its `id`: a built-in one's is a name such as standard_clo",
    "scenario_id": "Which scenario, by the `id` that making it answered",
    "session_id": "The session of insights that it belongs to",
    "channel_id": "Which of the alert's channels, by its `id`",
    # loans
    "cusip": "CUSIP of the loan, nine letters and digits. Null: none",
    "primary_identifier": "CUSIP, else LoanX id, else ISIN, else the borrower's name",
    "borrower_name": "Name of the borrower or issuer, as its source spells it",
    "industry": "Industry of the borrower, as its source spells it",
    "maturity_date": "Day on which the loan is due",
    "rating_agency_a": "Rating on agency A's scale, Aaa to C",
    "rating_agency_b": "Rating on agency B's scale, AAA to D",
    "rating_agency_c": "Rating on agency C's scale, AAA to D",
    "field": "The loan's field that it is about, as mappings name it: par_value, spread, ...",
    # files
    "file_name": "Name of the uploaded file",
    "file_size": "Size of the uploaded file in bytes",
    "file_size_bytes": "Size of the finished file in bytes. Null: not made yet",
    "format": "Kind of file",
    "download_url": "Path to download it from. Null: not made yet, or expired",
    "error_details": "Why it failed. Null: it did not",
    "expires_at": "From when on it no longer works, in UTC",
    "sheet_name": "The sheet, by its name in the workbook",
    "row_count": "Rows up to the last that holds anything",
    "column_count": "Columns up to the last that holds anything",
    "sanitize_pii": "Whether personal data in texts is redacted",
    "classification_threshold": "From which class on data is redacted: public, internal, confidential or restricted",
    "redaction_strategy": (
        "mask: stars for all but a hint; hash: a keyed token, the same for the same text; remove: nothing"
    ),
    "xlsx_include_styles": "Whether fonts, fills and borders are written",
    "xlsx_freeze_header": "Whether the header row stays in view",
    "xlsx_auto_width": "Whether columns are as wide as what they hold",
    # formulas
    "formula": "The formula as it was sent, with its leading =",
    "functions_used": "Names of the functions that it calls",
    "cell_references": "Cells and ranges that it refers to",
    "execution_time_ms": "Milliseconds that it took, rounded: 0 for less than half of one",
    "change_notes": "What was changed, and why",
    "version_id": "A version of the formula: v1, v2, ...",
    "template_id": "The template that it began as, or custom",
    "input_schema": (
        'Kinds of the columns that the formula reads, such as {"Par": "number"}; the graph is checked against them'
    ),
    "output_schema": "What the formula is meant to answer, in any form; it is kept and not checked",
    "mode": "Which editor the graph was made in: builder (blocks) or advanced (an expression); it changes no value",
    "output_mode": "new: a column behind the others, which must not exist; overwrite: one that exists",
    "target_column": "Name of the column in the header row; of a sheet without one its letters",
    "sheet_id": "Which sheet, by its identifier or its name",
    "compiled_formula": "The graph as one Excel formula",
    # compliance
    "test_id": "Which test, by its identifier in the suites or in the deal's definition",
    "test_name": "What people call the test",
    "test_suite": "Which tests were run: standard (15), enhanced (25), or deal (those of the deal's definition)",
    "category": "Group of tests: concentration, rating, coverage, portfolio or liquidity",
    "test_category": "Group of the test: concentration, rating, coverage, portfolio or liquidity",
    "threshold_value": "The limit, in the test's unit: percent points (7.5 is 7.5 %), years, or a plain number",
    "threshold_type": "max: the figure may not exceed the limit; min: it may not fall below; exact: it has to be equal",
    "warning_threshold": "Figure at which a test that still passes becomes a warning; a test of type exact has none",
    "cushion": "Distance to the limit in the test's unit; negative: the test fails",
    "low": "Lower end of the figure where masked or blank inputs leave it open; left out elsewhere",
    "high": "Upper end of the figure where masked or blank inputs leave it open; left out elsewhere",
    "warnings": "What was guessed, left out or could not be read",
    "as_of": "The day that the figures are of",
    "as_of_source": (
        "Who said that day: request, workbook (its record), file, column (of the loans); modified or upload: nobody, "
        "so the file's own day stands in"
    ),
    "definition_version": "Version of the deal's definition that was used. Null: none",
    "definition": "The deal's rules and tests as one document; what it leaves out has the suites' defaults",
    "status_current": "Outcome before the trades",
    "status_projected": "Outcome after the trades",
    # streams
    "stream_key": (
        "The stream that the evidence of runs is kept by: deal:<scheme>:<id>, such as deal:internal:clo-2024-1"
    ),
    "deal_name": "What people call the deal",
    "jurisdiction": "EU, UK, US, SEC, ...: may set the fewest years that evidence is kept. Null: none",
    "retention_mode": (
        "fixed_years: so many years from the profile's creation; life_of_securitisation: until the deal matures"
    ),
    "retention_years": "Years that evidence is kept, in the mode fixed_years",
    "profile_metadata": "Anything else; `tranches` lists {scheme: ISIN or CUSIP, value}, which are checked",
    "sequence": "Place in the tenant's chain of audit entries, from 1",
    # deals
    "currency": "Currency of the deal's amounts, by ISO 4217: EUR",
    "home_countries": "Countries that do not count as foreign, by ISO 3166: US; none: those of the definition",
    "closing_date": "Day on which the deal was issued",
    "reinvestment_end": "Last day on which principal may buy loans",
    "stated_maturity": "Day on which the notes are due",
    "next_payment_date": "Next day on which interest is paid to the notes",
    # mappings
    "mappings": "Source column -> the field that it feeds, in order of preference",
    "transforms": "Changes of fields' values, in this order, before the rules are checked",
    "validation_rules": "What fields' values must be",
    "source_type": "clo_holdings: a manager's loans; servicer_snapshot: a servicer's file; custom: fields of one's own",
    "parameters": "What the operation or rule needs: factor, divisor, decimals, pattern, min, max, values, ...",
    # reconciliation
    "trustee_name": "Whose tape it is: trustee_a, trustee_b or trustee_c",
    "statement_date": "Day of the trustee's statement",
    "severity": (
        "critical: par off by more than 5 %, or more than 1,000,000 missing; error: 1 to 5 %, or 100,000 and more; "
        "warning: a rating, a spread by more than 10 bps, another field; info: spelling and rounding"
    ),
    "resolution_notes": "What was found out or done about it, in free text",
    # scenarios
    "base_workbook_id": "The workbook whose portfolio the trades change; only a copy is changed. Null: not chosen yet",
    "trade_type": "buy adds a loan for cash; sell takes one out",
    # insights
    "is_nominated": "Whether insights are made of it",
    "stakeholder_type": "Who reads the insights: executive, finance, operations or analyst",
    "supporting_data": "The figures, exactly, and which cells, loans and tests they come from",
    "answered_by": "built-in, or the language model that worded the text",
    "answered": "False where the question was not understood or the data cannot answer it, as the text says",
    "understood": "The question as it was taken, in words",
    "suggestions": "Other questions or spellings that can be answered",
    # alerts and webhooks
    "alert_type": (
        "threshold: a figure passes a value; compliance: tests get a status; trend: a figure moves; schedule: by the "
        "clock"
    ),
    "conditions": (
        "When it triggers: metric, operator and value (threshold); status and test_ids (compliance); metric, "
        "direction, change_threshold and lookback_days (trend); schedule and report_type (schedule)"
    ),
    "channels": "Whom it tells, and how; each channel gets a message of every trigger",
    "channel": "Kind of channel",
    "cooldown_minutes": "Minutes after a trigger in which it stays silent",
    "events": "Events that are sent to it",
    "url": "Where events are sent: https://, on a public host, port 443 or 8443",
    "old_secret_until": "Until then the secret before the present one signs too. Null: it no longer does",
    "title": "One line that says what it is about",
    # operation
    "level": (
        "normal: all is served; reduced: some of it later or simpler; limited: a part answers 503; offline: "
        "everything does"
    ),
    "maintenance": "Whether the deployment is under maintenance",
    "flags": "Every feature flag, and whether it is on",
    "checks": "What each dependency answered, by its name",
    "breakers": "Circuit breakers by service",
    "service": "database, cache, task_queue, blobs, mail, webhooks or language_model",
    "state": "closed: calls go out; open: they are refused at once; half_open: one call at a time tries",
    "seen_by": "all_processes: figures of all of them; this_process: of the one that answers, since Redis is away",
    "version": "Version of the service, as major.minor.patch",
    "processes": "How many API processes the figures are of",
    "original_task_id": "The background task that failed",
    "retry_task_id": "The task that does the work again",
    "task_name": "Kind of task, such as workbooks.parse",
    # settings
    "default_currency": "Currency of a new deal that names none, by ISO 4217: USD",
    "timezone": "Time zone of schedules and of mails, by its IANA name: Europe/Dublin",
    "date_format": "How clients are to show dates: strftime codes (%d.%m.%Y) or a spreadsheet's (DD/MM/YYYY)",
    "default_date_format": "A second date format for clients, in the codes of date_format; the service uses neither",
    "number_format": "How clients are to show numbers, by a language and region: en-US",
    "default_number_format": "A second number format for clients, as number_format; the service uses neither",
    "two_factor_required": "Whether every user has to log in with a second factor",
    "session_timeout_minutes": "Minutes without a request after which a login ends. Null: none",
    "allowed_ip_ranges": "Networks (CIDR) that requests may come from; none: all",
    "rating_agency_a_label": "What people read in place of rating_agency_a",
    "rating_agency_b_label": "What people read in place of rating_agency_b",
    "rating_agency_c_label": "What people read in place of rating_agency_c",
    "trustee_a_label": "What people read in place of trustee_a",
    "trustee_b_label": "What people read in place of trustee_b",
    "trustee_c_label": "What people read in place of trustee_c",
    "max_workbook_size_mb": "Largest upload in megabytes, where that is less than the tier's",
}
"""What a name means wherever nothing else is said of it."""

PATHS: Final = {
    "export_id": "The `id` that POST /api/v1/exports answered",
    "insight_id": "The `id` of an insight in one of the caller's sessions",
    "ref": "The cell's name, such as B7",
    "result_id": "The `id` of a run, as GET /api/v1/compliance/history lists it",
    "run_id": "The `id` of a run, as GET /api/v1/compliance/history lists it",
    "sheet_name": "The sheet's name or identifier",
    "task_id": "The entry's `dlq_id`, or its `original_task_id`",
}
"""Parameters of paths that are no `id` of a list, or mean something else than the field of that name."""

_ADDS: Final = ("Null: ", "Unset: ")
"""Words of a field that open so are added to what is said of it anyway."""


def describe(properties: dict[str, Any], kind: type, components: dict[str, Any]) -> None:
    """Give each property of a class's schema, one of these components, the words that belong to it.

    Those are the string below the field, else the `Meta` of its type, else those of its name, else what the schema
    that it refers to says of itself.
    """
    own = _own(kind)
    names = dict(zip(*(getattr(kind, f"__struct_{each}__", ()) for each in ("encode_fields", "fields")), strict=True))
    for told, schema in properties.items():
        words, said = own.get(names.get(told, told)), _of_type(schema) or SHARED.get(told)
        if words and said and words.startswith(_ADDS):
            words = f"{sentence(said)} {words}"
        if words := words or said or _of_reference(schema, components):
            schema["description"] = sentence(words)


def of_path(name: str, path: str) -> str:
    """The words of a path's parameter: by default it is what a record says of itself in the list that it stands in."""
    words = PATHS.get(name) or SHARED.get(name)
    return sentence(words or f"The `id` of one of GET {path.partition('/{' + name)[0]}")


def _of_type(schema: dict[str, Any]) -> str | None:
    """What the `Meta` of a type says, also of one that may be null."""
    return next((part["description"] for part in (schema, *schema.get("anyOf", ())) if "description" in part), None)


def _of_reference(schema: dict[str, Any], components: dict[str, Any]) -> str | None:
    parts = (part["$ref"].rpartition("/")[2] for part in (schema, *schema.get("anyOf", ())) if "$ref" in part)
    return next((components[name]["description"] for name in parts if name in components), None)


def sentence(words: str) -> str:
    """With a full stop, and on one line."""
    text = " ".join(words.split())
    return text if text.endswith(".") else text + "."


def _own(kind: type) -> dict[str, str]:
    """The strings below a class's fields, those of its bases included."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] in ("core", "service"):
            found |= _module(base.__module__).get(base.__name__, {})
    return found


_LINE: Final = re.compile(r'^(?:class (\w+)|([^\s)])|    (\w+): |    """(.*?)""")', re.MULTILINE | re.DOTALL)
"""A class, another statement of the module, a field, or a string that may stand below one. (Reading the syntax tree
instead takes twenty times as long, a tenth of a second at each start.)"""


@cache
def _module(name: str) -> dict[str, dict[str, str]]:
    """The strings below the fields of a module's classes, by class and field."""
    found: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    field = ""
    for line in _LINE.finditer(Path(str(sys.modules[name].__file__)).read_text(encoding="utf-8")):
        class_name, other, field_name, words = line.groups()
        if class_name or other:
            fields, field = found.setdefault(class_name or "", {}), ""
        elif field_name:
            field = field_name
        elif field:
            fields[field] = words
            field = ""
    found.pop("", None)
    return found
