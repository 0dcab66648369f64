"""Compliance in a confined child: suites by users' own rules, and definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal
from urllib.parse import quote
from uuid import UUID

from msgspec import Struct, json, structs

from core.compliance.limits import UnknownTest
from core.compliance.result import Results, RunFigures, Skipped, TestResult
from core.compliance.run import run_suite
from core.definition.definition import Definition
from core.definition.document import DefinitionError, parse
from core.parts.content import FigureParts
from core.parts.parts import figure_parts, no_parts
from core.parts.table import parts_csv
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import AsOfSource
from service.compliance.schema import ResultParts
from service.platform.route.api import Raw


class Ran(Struct, frozen=True, kw_only=True, tag=True):
    """The results of a suite, as `core.compliance.result.Results` is made of them."""

    results: list[TestResult]
    skipped: list[Skipped]
    as_of: date | None
    as_of_source: AsOfSource | None
    warnings: list[DataWarning]
    figures: dict[str, float]
    interpretation: Interpretation | None

    def as_results(self) -> Results:
        return Results(
            self.results,
            self.skipped,
            as_of=self.as_of,
            as_of_source=self.as_of_source,
            warnings=self.warnings,
            figures=RunFigures(self.figures),
            interpretation=self.interpretation,
        )


class SuiteLacksTest(Struct, frozen=True, tag=True):
    """The suite lacks a test that was named."""

    message: str


def run(portfolio: Portfolio, suite: str, rules: Mapping[str, Any], options: Mapping[str, Any]) -> Ran | SuiteLacksTest:
    """Return a suite's results; `rules` and `options` are `run_suite`'s."""
    try:
        test_results = run_suite(portfolio, suite, **rules, **options)
    except UnknownTest as error:
        return SuiteLacksTest(str(error))
    return Ran(
        results=list(test_results),
        skipped=test_results.skipped,
        as_of=test_results.as_of,
        as_of_source=test_results.as_of_source,
        warnings=test_results.warnings,
        figures=test_results.figures,
        interpretation=test_results.interpretation,
    )


class PartsOrder(Struct, frozen=True):
    """Which figure is taken apart, and which of its parts are wanted how."""

    run_id: UUID
    result: TestResult | Skipped
    suite: str
    offset: int
    limit: int
    format: Literal["json", "csv"]


def parts(portfolio: Portfolio, definition: Definition | None, order: PartsOrder) -> Raw:
    """Return the parts of a run's figure, from its loans and rules."""
    is_csv = order.format == "csv"
    page = {"offset": 0, "limit": None} if is_csv else {"offset": order.offset, "limit": order.limit}
    figure = figure_parts(portfolio, order.result, suite=order.suite, definition=definition, **page)
    return _write_parts(figure, order)


def without_parts(order: PartsOrder, reason: str) -> Raw:
    """Return the answer where there are none, and why."""
    return _write_parts(no_parts(order.result, reason, offset=order.offset, limit=order.limit), order)


def _write_parts(figure: FigureParts, order: PartsOrder) -> Raw:
    if order.format == "csv":
        name = f"attachment; filename*=UTF-8''{quote(order.result.test_id, safe='')}-parts.csv"
        return Raw(parts_csv(figure).encode(), "text/csv; charset=utf-8", [("Content-Disposition", name)])
    answer = ResultParts(run_id=order.run_id, **structs.asdict(figure))
    return Raw(json.encode(answer), "application/json")


class ParsedDefinition(Struct, frozen=True):
    """The definition that a document says, or what is wrong with it."""

    definition: Definition | None
    faults: list[tuple[str, str]] = []
    """The place and the message of each fault."""


def parse_definition(document: Mapping[str, Any], own_fields: Sequence[str] | None = None) -> ParsedDefinition:
    """Return the definition of a document.

    Its formulas may read these fields beside the standard ones; None: any.
    """
    try:
        return ParsedDefinition(parse(document, own_fields=own_fields))
    except DefinitionError as error:
        return ParsedDefinition(None, error.faults)
