"""Refusals: the specification's own messages, one code for each status, each in the published description."""

from __future__ import annotations

import ast
import re

from docs.generated import errors as page_of_errors
from docs.generated.messages import HELP
from service.app import areas
from service.platform.base.flags import FLAGS
from service.platform.base.problem import CODE_BY_STATUS, Problem, UnderMaintenance, anchor_of
from service.platform.http import application
from tests.conftest import ROOT
from tests.contract.__main__ import unfolded
from tests.rows import every

# By hand: what each endpoint says when it refuses.
STATED = {
    "POST /api/v1/auth/register": [(400, "Email already registered"), (422, "Validation error")],
    "POST /api/v1/auth/login": [(401, "Incorrect email or password"), (401, "User account is deactivated")],
    "POST /api/v1/auth/refresh": [
        (401, "Invalid refresh token"),
        (401, "Refresh token has been revoked"),
        (401, "All tokens have been revoked"),
    ],
    "POST /api/v1/admin/users/invite": [
        (400, "Invalid role"),
        (409, "User already exists"),
        (403, "User limit exceeded"),
    ],
    "PATCH /api/v1/admin/users/{user_id}": [(404, "User not found")],
    "POST /api/v1/workbooks/upload": [
        (400, "Invalid file format"),
        (400, "File too large"),
        (400, "Too many sheets"),
        (422, "Parse error"),
        (429, "Rate limit exceeded"),
        (403, "Workbook limit exceeded"),
    ],
    "GET /api/v1/workbooks/{workbook_id}": [(404, "Workbook not found")],
    "GET /api/v1/workbooks/{workbook_id}/sheets/{sheet_name}/data": [
        (409, "Workbook is not ready"),
        (404, "Workbook not found"),
    ],
    "DELETE /api/v1/workbooks/{workbook_id}": [(404, "Workbook not found"), (409, "Workbook in use")],
    "POST /api/v1/compliance/run": [
        (404, "Workbook not found"),
        (400, "Invalid test suite"),
        (409, "Test already running"),
        (409, "Workbook is not ready"),
    ],
    "POST /api/v1/compliance/thresholds": [(400, "Unknown test")],
    "POST /api/v1/reconciliation/tapes/upload": [
        (400, "Invalid file format"),
        (400, "Invalid trustee"),
        (400, "Invalid date"),
        (400, "File too large"),
        (422, "Parse error"),
        (429, "Rate limit exceeded"),
    ],
    "GET /api/v1/reconciliation/tapes/{tape_id}": [(404, "Tape not found")],
    "POST /api/v1/reconciliation/compare": [
        (400, "Tape not ready"),
        (400, "Invalid rules"),
        (404, "Tape not found"),
        (404, "Workbook not found"),
        (409, "Workbook is not ready"),
    ],
    "GET /api/v1/reconciliation/compare/{job_id}/status": [(404, "Job not found")],
    "PATCH /api/v1/reconciliation/issues/{issue_id}": [(400, "Invalid status"), (404, "Issue not found")],
    "POST /api/v1/batches": [
        (400, "Invalid test suite"),
        (400, "Unknown test"),
        (404, "Workbook not found"),
        (404, "Deal not found"),
        (422, "Invalid definition"),
    ],
    "GET /api/v1/batches/{batch_id}": [(404, "Batch not found")],
    "DELETE /api/v1/batches/{batch_id}": [(404, "Batch not found"), (409, "Batch has ended")],
    "GET /api/v1/batches/{batch_id}/results": [
        (404, "Batch not found"),
        (409, "Batch has no results yet"),
        (410, "Results of the batch have expired"),
    ],
    "POST /api/v1/exports": [(400, "Invalid request"), (404, "Workbook not found"), (409, "Workbook is not ready")],
    "GET /api/v1/exports/{export_id}": [(404, "Export not found")],
    "GET /api/v1/exports/{export_id}/download": [
        (404, "Export not found"),
        (404, "Sealed PDF not found"),
        (409, "Export is not ready"),
        (410, "Export has expired"),
    ],
    "POST /api/v1/exports/verify": [(400, "Invalid request"), (403, "File belongs to another tenant")],
    "DELETE /api/v1/exports/{export_id}": [(404, "Export not found"), (409, "Export has ended")],
    "POST /api/v1/reports/compliance": [
        (404, "Workbook not found"),
        (404, "Result not found"),
        (409, "Workbook has no compliance run"),
        (403, "Storage limit exceeded"),
        (403, "Report limit exceeded"),
    ],
    "POST /api/v1/reports/reconciliation": [(404, "Tape not found"), (409, "Tape has no completed comparison")],
    "GET /api/v1/reports/{report_id}/download": [
        (404, "Report not found"),
        (409, "Report is not ready"),
        (410, "Report has expired"),
    ],
    "POST /api/v1/mappings": [
        (400, "Invalid source type"),
        (400, "Invalid mapping configuration"),
        (404, "Profile not found"),
        (409, "Mapping already exists"),
    ],
    "GET /api/v1/mappings/{mapping_id}": [(404, "Mapping not found")],
    "PATCH /api/v1/mappings/{mapping_id}": [
        (400, "Invalid mapping configuration"),
        (403, "Cannot modify system mapping"),
        (404, "Mapping not found"),
        (409, "Mapping already exists"),
    ],
    "DELETE /api/v1/mappings/{mapping_id}": [
        (403, "Cannot delete system mapping"),
        (404, "Mapping not found"),
        (409, "Mapping in use"),
    ],
    "POST /api/v1/mappings/{mapping_id}/validate": [(404, "Mapping not found")],
}

# By hand: the codes that go with each status.
CODES = {
    400: {"VALIDATION_ERROR"},
    401: {"INVALID_TOKEN", "TOKEN_REVOKED", "AUTHENTICATION_FAILED"},
    403: {"PERMISSION_DENIED"},
    404: {"RESOURCE_NOT_FOUND"},
    405: {"METHOD_NOT_ALLOWED"},
    409: {"CONFLICT"},
    410: {"EXPORT_EXPIRED"},
    413: {"PAYLOAD_TOO_LARGE"},
    415: {"UNSUPPORTED_MEDIA_TYPE"},
    416: {"RANGE_NOT_SATISFIABLE"},
    422: {"VALIDATION_ERROR", "FILE_PARSE_ERROR", "CALCULATION_ERROR"},
    429: {"RATE_LIMIT_EXCEEDED"},
    500: {"INTERNAL_ERROR"},
    503: {"SERVICE_UNAVAILABLE"},
}

ROWS = [row for area in areas() for row in area.routes]
DOCUMENT = unfolded()


def every_problem() -> list[type[Problem]]:
    result, waiting = [], [Problem]
    while waiting:
        waiting += (known := waiting.pop().__subclasses__())
        result += known
    return [problem for problem in result if problem.__module__.startswith("service.")]


def documented(method: str, path: str, status: int) -> list[str]:
    answers = DOCUMENT["paths"][path][method.lower()]["responses"]
    return str(answers.get(str(status), {}).get("description", "")).split("; ")


@every("endpoint", STATED)
def test_the_specifications_messages_are_documented_word_for_word(endpoint: str) -> None:
    method, path = endpoint.split(" ")
    assert [pair for pair in STATED[endpoint] if pair[1] not in documented(method, path, pair[0])] == []


@every("problem", every_problem())
def test_a_problem_has_a_message_and_a_code_of_its_status(problem: type[Problem]) -> None:
    assert problem.code in CODES[problem.status]
    assert problem.__doc__ is not None
    assert problem.detail == problem.__doc__.strip() == problem.detail.strip(".")
    assert "\n" not in problem.detail


@every("problem", every_problem())
def test_a_problem_is_listed_by_a_route_or_may_come_from_any(problem: type[Problem]) -> None:
    assert problem in application.ANYWHERE or any(problem in row.errors for row in ROWS)


def test_every_listed_refusal_is_in_the_description() -> None:
    missing = [
        (row.method, row.path, problem.detail)
        for row in ROWS
        for problem in row.errors
        if problem.detail not in documented(row.method, row.path, problem.status)
    ]
    assert missing == []


def test_every_guarded_route_documents_the_refusals_of_the_gate() -> None:
    for row in ROWS:
        if row.access == "public":
            continue
        for status, detail in (
            (401, "Not authenticated"),
            (401, "Token has been revoked"),
            (403, "Insufficient permissions"),
            (403, "Tenant is suspended"),
            (429, "Rate limit exceeded"),
            (500, "Internal server error"),
            (503, "Service temporarily unavailable"),
        ):
            if status == 429 and not row.limited:
                continue
            assert detail in documented(row.method, row.path, status), (row.method, row.path, detail)


def test_the_codes_are_the_decisions_pages() -> None:
    assert set(CODE_BY_STATUS) == set(CODES)
    assert all(code in CODES[status] for status, code in CODE_BY_STATUS.items())


def test_one_message_has_one_meaning() -> None:
    """A caller may tell refusals apart by status and message."""
    meanings: dict[tuple[int, str], set[str]] = {}
    for problem in every_problem():
        meanings.setdefault((problem.status, problem.detail), set()).add(problem.code)
    assert [pair for pair, codes in meanings.items() if len(codes) > 1] == []


def test_a_refusal_of_what_a_request_says_or_may_do_says_what_would_do() -> None:
    """Either where it is raised, or by the hint of its class.

    The limit, the choices, the right that is lacking.
    """
    helpful = (400, 403, 413, 422, 429)
    silent = {item.__name__ for item in every_problem() if item.status in helpful and not item.hint}
    bare = []
    for path in sorted((ROOT / "service").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            raised = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(raised, ast.Call) and not raised.args:
                raised = raised.func
            name = getattr(raised, "attr", getattr(raised, "id", ""))
            if name in silent:
                bare.append((str(path.relative_to(ROOT)), node.lineno, name))
    assert bare == []


def test_a_refusal_in_somebodys_own_words_leads_to_the_paragraph_of_its_kind() -> None:
    problem = UnderMaintenance.with_message("Back at noon", retry_after_seconds=5)
    assert problem.help == UnderMaintenance().help == "/docs/guide/errors/#scheduled_maintenance_in_progress"


def test_each_message_has_a_cause_and_a_remedy_in_the_guide() -> None:
    messages = {problem.detail for problem in every_problem()} | {flag.refusal for flag in FLAGS.values()} - {""}
    assert set(HELP) == messages, "docs/generated/messages.py has a paragraph for each message, and for no other"
    for message, entry in HELP.items():
        for text in entry:
            assert text.endswith("."), (message, text)
            assert text[0].isupper() or text[0] == "`", (message, text)
        assert entry.cause != entry.remedy


def test_the_paragraph_stands_where_the_help_of_a_refusal_leads() -> None:
    page = page_of_errors.pages()["errors.md"]
    anchors = re.findall(r"\{#([a-z0-9_]+)\}$", page, re.MULTILINE)
    assert len(anchors) == len(set(anchors))
    for problem in every_problem():
        anchor = anchor_of(problem.detail)
        assert anchor in anchors, problem
        heading, _, rest = page.partition(f"{{#{anchor}}}\n\n")
        assert rest, heading[-200:]
        paragraph = rest.partition("\n")[0]
        assert "**What to do:**" in paragraph, (anchor, paragraph)


def test_paragraphs_name_endpoints_that_there_are() -> None:
    known = {(row.method, row.path) for row in ROWS}
    named = {
        (message, method, path)
        for message, entry in HELP.items()
        for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^ `]+)`", " ".join(entry))
    }
    assert len(named) > 40
    assert sorted(row for row in named if row[1:] not in known) == []
