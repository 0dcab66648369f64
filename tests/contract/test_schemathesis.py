"""Every published operation under schemathesis.

The edges of each parameter, what lies past them, chance, sequences.

The document is the service's own, with the identifiers of real records and with words that the service knows written
into the requests, so that calls get further than the first refusal. In CI all of it is the same each time.
"""

from __future__ import annotations

import copy
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis import Case, GenerationMode
from schemathesis.checks import CheckFunction, load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    ensure_resource_availability,
    ignored_auth,
    positive_data_acceptance,
    unsupported_method,
    use_after_free,
)

from tests.conftest import PASSWORD, Member, Stack, register
from tests.contract.__main__ import unfolded
from tests.records import GRAPH, MAPPING, records_of
from tests.rows import every

DOCUMENT = unfolded()
STOPPING = {"POST /health/maintenance"}
"""What would have every other call answered 503."""
OPERATIONS = [
    label
    for path, item in sorted(DOCUMENT["paths"].items())
    for label in (f"{method.upper()} {path}" for method in item)
    if label not in STOPPING
]
CHANCES = 1
"""Random calls of each kind (that fit, that do not) for an operation: the edges are found without chance."""
SEQUENCES, STEPS = 15, 15
SEARCHES = "SEARCH" in os.environ
"""Then every call past an edge is made; else every other one."""
BEGINNINGS = 4
TIMEOUT_SECONDS = 30

KNOWN: dict[str, list[Any]] = {
    "formula": ["=A1+1", '=SUM(1,2)&"x"', "=IF("],
    "context": [{"A1": 1}],
    "test_suite": ["standard"],
    "test_id": ["ccc_bucket_pct"],
    "source_type": ["custom"],
    "mappings": [MAPPING["mappings"]],
    "definition": [{}, {"name": "Deal"}],
    "stream_key": ["deal:internal:one"],
    "graph": [GRAPH],
    "template_id": ["custom", "ratio"],
    "version_id": ["v1"],
    "sheet_id": ["Loans"],
    "trustee_name": ["trustee_a"],
    "rules": [["par_value"]],
    "role": ["viewer"],
    "permissions": [["workbooks:read"]],
    "email": ["somebody@example.com"],
    "username": ["somebody@example.com"],
    "password": [PASSWORD],
    "new_password": [PASSWORD],
    "current_password": [PASSWORD],
    "default_currency": ["EUR"],
    "timezone": ["Europe/Paris"],
    "number_format": ["de-DE"],
    "default_number_format": ["de-DE"],
    "expires_at": ["2099-01-01T00:00:00Z"],
    "start_date": ["2026-01-01"],
    "end_date": ["2999-12-31"],
    "from": ["2026-03-31"],
    "to": ["2026-03-31"],
}
"""Words that the service knows: each stands beside what the document says of a request's field of that name."""

STRICTER = {
    "a formula has a grammar": ["POST /api/v1/calculations/evaluate", "GET /api/v1/calculations/translate"],
    "names of suites, tests, rules, trustees have answers of their own": [
        "POST /api/v1/batches",
        "POST /api/v1/compliance/run",
        "POST /api/v1/compliance/thresholds",
        "POST /api/v1/reconciliation/compare",
        "PATCH /api/v1/reconciliation/issues",
        "PATCH /api/v1/reconciliation/issues/{issue_id}",
    ],
    "a reader, a question, and a session that is there have answers of their own": [
        "POST /api/v1/insights/generate",
        "POST /api/v1/insights/regenerate",
        "POST /api/v1/insights/ask",
        "POST /api/v1/insights/{insight_id}/ask",
    ],
    "a confirmation is the user's address": ["POST /api/v1/admin/users/{user_id}/erase"],
    "a question's context is a workbook, and a formula's cells": ["POST /api/v1/ai/chat"],
    "a file has a format": [
        "POST /api/v1/workbooks/upload",
        "POST /api/v1/reconciliation/tapes/upload",
        "POST /api/v1/deals/{deal_id}/files",
    ],
    "a range lies within the file": [
        "GET /api/v1/batches/{batch_id}/results",
        "GET /api/v1/exports/{export_id}/download",
        "GET /api/v1/reconciliation/tapes/{tape_id}/file",
        "GET /api/v1/reports/{report_id}/download",
        "GET /api/v1/workbooks/{workbook_id}/file",
    ],
    "a mapping is checked as a whole": [
        "POST /api/v1/mappings",
        "PATCH /api/v1/mappings/{mapping_id}",
        "POST /api/v1/workbooks/{workbook_id}/detection",
    ],
    "fields and conditions are those of the workbook": ["GET /api/v1/workbooks/{workbook_id}/loans"],
    "a token comes in the body or as a cookie": ["POST /api/v1/auth/refresh"],
    "a definition is checked as a whole": ["PUT /api/v1/deals/{deal_id}/definition"],
    "a stream key has a known scheme and check digits, and a deal's days stand in their order": [
        "POST /api/v1/deals",
        "PATCH /api/v1/deals/{deal_id}",
        "PATCH /api/v1/workbooks/{workbook_id}",
        "POST /api/v1/admin/compliance/stream-profiles",
    ],
    "a retention and its tranches fit together": ["PATCH /api/v1/admin/compliance/stream-profiles/{profile_id}"],
    "a trade is of a loan's fields, and of a loan that is held": [
        "POST /api/v1/scenarios/preview",
        "POST /api/v1/scenarios",
        "POST /api/v1/scenarios/{scenario_id}/trades",
        "POST /api/v1/scenarios/{scenario_id}/simulate",
        "POST /api/v1/scenarios/{scenario_id}/optimize",
        "GET /api/v1/scenarios/{scenario_id}/headroom",
    ],
    "a graph is checked as a whole": [
        "POST /api/v1/formulas",
        "POST /api/v1/formulas/preview",
        "PATCH /api/v1/formulas/{config_id}",
        "PUT /api/v1/formulas/{config_id}/versions",
    ],
    "options of an export have answers of their own, and a file a format": [
        "POST /api/v1/exports",
        "POST /api/v1/exports/verify",
    ],
    "a report of either kind names what that kind is made of": ["POST /api/v1/reports/generate"],
    "conditions and channels go by their types": ["POST /api/v1/alerts/configure", "PATCH /api/v1/alerts/{alert_id}"],
    "a webhook goes to a URL of the internet's": ["POST /api/v1/webhooks", "PATCH /api/v1/webhooks/{webhook_id}"],
    "flags and tenants are looked up": ["POST /health/feature-flags"],
    "one parameter bounds another": ["GET /api/v1/workbooks/{workbook_id}/sheets/{sheet_name}/data"],
    "moments have a grammar": [
        "GET /api/v1/compliance/history",
        "GET /api/v1/compliance/lookback",
        "POST /api/v1/compliance/evidence/lookback",
        "GET /api/v1/deals/{deal_id}/movements",
        "GET /api/v1/activity",
        "GET /api/v1/admin/audit-logs",
        "GET /api/v1/admin/audit-logs/export",
    ],
    "passwords, e-mails, tokens have rules": [
        "POST /api/v1/admin/tenants",
        "POST /api/v1/auth/register",
        "POST /api/v1/auth/accept-invitation",
        "POST /api/v1/auth/password/change",
        "POST /api/v1/auth/password/forgot",
        "POST /api/v1/auth/password/reset",
    ],
    "roles, scopes, currencies, zones are looked up": [
        "POST /api/v1/admin/users/invite",
        "POST /api/v1/admin/api-keys",
        "PATCH /api/v1/admin/tenant",
    ],
}
"""Why an operation may refuse, with 400 or 422, what its schema lets pass."""
STRICTER_LABELS = {label for labels in STRICTER.values() for label in labels}

ENDING = re.compile(r"DELETE|/(?:logout|revoke-all-tokens|password|2fa|tenant|rotate|erase)\b|PATCH .*/users/")
"""Operations that would end the session, the user or the records that the others need get a tenant of their own."""

MADE_BY_JSON = r"/(?:mappings|admin/api-keys|compliance/thresholds)"
"""Paths of the records that a call alone can make: no file, no job."""

APART = {"X-Tenant-ID", "Idempotency-Key"}
"""Headers with tests of their own: one names a tenant that the caller is not of, one a call made before."""

GENERATION = {"allow-x00": False}
"""A null character is refused anywhere in a request, which a schema cannot say."""

load_all_checks()


@dataclass
class Caller:
    """Who calls, and the document with the identifiers of their records."""

    member: Member
    schema: Any
    session: requests.Session
    guarded: set[str] = field(default_factory=set)
    """Operations that refused their first call when it came again without its credentials: one proof is enough."""

    def operation(self, label: str) -> Any:
        """An operation of the document."""
        return self.schema.find_operation_by_label(label)

    def call(self, case: Case) -> None:
        """Make the call, and hold the answer against the document."""
        base_url = str(self.member.http.base_url)
        public = not case.operation.definition.raw["security"]
        headers = {} if public else {"Authorization": self.member.http.headers["Authorization"]}
        how = {"base_url": base_url, "session": self.session, "headers": headers, "timeout": TIMEOUT_SECONDS}
        answer = case.call(**how)
        if of_the_web_server(answer):
            return
        # What other calls made or removed meanwhile, only sequences know.
        without = [*excluded(case), use_after_free, ensure_resource_availability]
        label = case.operation.label
        if label in self.guarded:
            without.append(ignored_auth)
        case.validate_response(answer, headers=headers, transport_kwargs=how, excluded_checks=without)
        if answer.status_code // 100 == 2 and not public and case.meta.generation.mode.is_positive:
            self.guarded.add(label)


def of_the_web_server(answer: Any) -> bool:
    """Whether it refused a line or a header that is too long, so that the service never saw the request."""
    return answer.status_code in (414, 431) and not answer.content


def excluded(case: Case) -> list[CheckFunction]:
    """The checks that do not apply to a call."""
    without: list[CheckFunction] = []
    if case.operation.label in STRICTER_LABELS:
        without.append(positive_data_acceptance)
    if is_also_a_record(case.operation.path):
        without.append(unsupported_method)  # /things/upload is also a thing of that name, which has methods of its own
    return without


@cache
def is_also_a_record(path: str) -> bool:
    """Whether a path fits another one that has parameters."""
    templates = (re.sub(r"{\w+}", "[^/]+", other_path) for other_path in DOCUMENT["paths"] if "{" in other_path)
    return any(re.fullmatch(template, path) for template in templates)


def with_words(document: dict[str, Any], words: dict[str, list[Any]], *, alone: bool) -> dict[str, Any]:
    """The document with values that its requests may hold.

    Beside what it says of them, or alone.
    """
    document = copy.deepcopy(document)
    schemas = document["components"]["schemas"]
    seen: set[str] = set()

    def with_own_words(name: str, schema: dict[str, Any]) -> dict[str, Any]:
        if name not in words:
            return schema
        return {"enum": words[name]} if alone else {"anyOf": [{"enum": words[name]}, schema]}

    def walk(schema: Any) -> None:
        if isinstance(schema, list):
            for item in schema:
                walk(item)
        elif isinstance(schema, dict):
            component = str(schema.get("$ref", "")).rpartition("/")[2]
            if component and component not in seen:
                seen.add(component)
                walk(schemas[component])
            for name, inner in schema.items():
                walk(inner)
                if name == "properties":
                    schema[name] = {field: with_own_words(field, kind) for field, kind in inner.items()}

    for item in document["paths"].values():
        for operation in item.values():
            operation["parameters"] = [field for field in operation["parameters"] if field["name"] not in APART]
            for parameter in operation["parameters"]:
                parameter["schema"] = with_own_words(parameter["name"], parameter["schema"])
            walk(operation.get("requestBody", {}))
    return document


@pytest.fixture(scope="module")
def shared(stack: Stack, shared_owner: Member) -> Iterator[Caller]:
    with requests.Session() as session:
        session.trust_env = False  # else each call looks for proxies among all that the environment has
        yield Caller(shared_owner, loaded(records_of(shared_owner)), session)


@pytest.fixture
def caller(request: pytest.FixtureRequest, stack: Stack, shared: Caller) -> Caller:
    """Whoever calls the operation of a test."""
    if ENDING.search(request.getfixturevalue("label")):
        return replace(shared, member=register(stack.url))
    return shared


def loaded(records: dict[str, str], *without: str, alone: bool = False) -> Any:
    """The document for schemathesis, to be held against all its checks but these."""
    words = KNOWN | {name: [value] for name, value in records.items()}
    refusals = {"expected-statuses": ["4xx", "5xx"]}  # a wrong body may be too large as well: 413
    checks = {"negative_data_rejection": refusals, **{name: {"enabled": False} for name in without}}
    configuration = SchemathesisConfig.from_dict({"generation": GENERATION, "checks": checks})
    return schemathesis.openapi.from_dict(with_words(DOCUMENT, words, alone=alone), config=configuration)


each = pytest.mark.parametrize("label", OPERATIONS)


@each
@every("mode", list(GenerationMode))
def test_an_operation_keeps_its_word_at_the_edges(caller: Caller, label: str, mode: GenerationMode) -> None:
    operation = caller.operation(label)
    generation = caller.schema.config.generation_for(operation=operation)
    faults: list[Exception] = []
    cases = caller.schema.iter_coverage_cases(operation, generation_modes=[mode], generation_config=generation)
    for case in cases if mode is GenerationMode.POSITIVE or SEARCHES else islice(cases, 0, None, 2):
        try:
            caller.call(case)
        except ExceptionGroup as result:
            faults.extend(result.exceptions)
    if faults:
        raise ExceptionGroup(label, faults[:10])


@each
def test_an_operation_keeps_its_word_by_chance(caller: Caller, label: str) -> None:
    operation = caller.operation(label)
    nothing_to_get_wrong = not (
        operation.definition.raw["security"] or operation.body or list(operation.iter_parameters())
    )
    modes = [GenerationMode.POSITIVE] if nothing_to_get_wrong else list(GenerationMode)

    @settings(max_examples=CHANCES, database=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def chance(data: st.DataObject) -> None:
        for mode in modes:
            caller.call(data.draw(operation.as_strategy(generation_mode=mode)))

    chance()


def test_sequences_of_calls_keep_their_word(stack: Stack) -> None:
    """What one call made, the next reads, changes, removes; what is removed is gone."""
    member = register(stack.url)
    schema = loaded({}, "positive_data_acceptance", "unsupported_method", alone=True)
    schema = schema.include(path_regex=MADE_BY_JSON)

    class Sequence(schema.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            return {
                "base_url": stack.url,
                "headers": {"Authorization": member.http.headers["Authorization"]},
                "timeout": TIMEOUT_SECONDS,
            }

        def validate_response(self, response: Any, case: Case, **options: Any) -> None:
            seen[case.operation.label, response.status_code] += 1
            if not of_the_web_server(response):
                super().validate_response(response, case, **options)

    seen: Counter[tuple[str, int]] = Counter()
    # What a step may be depends on what the service answered before, and its identifiers are new each time: hypothesis
    # may find that the same choices led elsewhere, which says nothing of the service. Then the sequences begin anew.
    for attempt in range(BEGINNINGS):
        try:
            Sequence.run(
                settings=settings(
                    max_examples=SEQUENCES,
                    stateful_step_count=STEPS,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                    phases=(Phase.generate,),
                    derandomize=not SEARCHES and attempt == 0,
                )
            )
            break
        except FlakyStrategyDefinition:
            assert attempt < BEGINNINGS - 1, "no beginning led through"
    assert seen["POST /api/v1/admin/api-keys", 201]
    assert seen["DELETE /api/v1/admin/api-keys/{key_id}", 204]


def test_the_exceptions_are_of_operations_that_exist() -> None:
    assert set(OPERATIONS) >= STRICTER_LABELS
