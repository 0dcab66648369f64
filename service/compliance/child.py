"""What a confined child does for compliance: run a suite by somebody's own rules, and make a definition of them."""

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


class NoSuchTest(Struct, frozen=True, tag=True):
    """The suite lacks a test that was named."""

    message: str


def run(portfolio: Portfolio, suite: str, rules: Mapping[str, Any], options: Mapping[str, Any]) -> Ran | NoSuchTest:
    """A suite's results for a portfolio; `rules` and `options` are those of `run_suite`."""
    try:
        found = run_suite(portfolio, suite, **rules, **options)
    except UnknownTest as error:
        return NoSuchTest(str(error))
    return Ran(
        results=list(found),
        skipped=found.skipped,
        as_of=found.as_of,
        as_of_source=found.as_of_source,
        warnings=found.warnings,
        figures=found.figures,
        interpretation=found.interpretation,
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
    """The parts of a figure of a run, from the loans that it read and by its rules."""
    is_csv = order.format == "csv"
    page = {"offset": 0, "limit": None} if is_csv else {"offset": order.offset, "limit": order.limit}
    found = figure_parts(portfolio, order.result, suite=order.suite, definition=definition, **page)
    return _written(found, order)


def without_parts(order: PartsOrder, reason: str) -> Raw:
    """The answer where there are none, and why."""
    return _written(no_parts(order.result, reason, offset=order.offset, limit=order.limit), order)


def _written(found: FigureParts, order: PartsOrder) -> Raw:
    if order.format == "csv":
        name = f"attachment; filename*=UTF-8''{quote(order.result.test_id, safe='')}-parts.csv"
        return Raw(parts_csv(found).encode(), "text/csv; charset=utf-8", [("Content-Disposition", name)])
    answer = ResultParts(run_id=order.run_id, **structs.asdict(found))
    return Raw(json.encode(answer), "application/json")


class ParsedDefinition(Struct, frozen=True):
    """The definition that a document says, or what is wrong with it."""

    definition: Definition | None
    faults: list[tuple[str, str]] = []
    """The place and the message of each fault."""


def parse_definition(document: Mapping[str, Any], own_fields: Sequence[str] | None = None) -> ParsedDefinition:
    """The definition of a document; its formulas may read these fields beside the standard ones, None: any."""
    try:
        return ParsedDefinition(parse(document, own_fields=own_fields))
    except DefinitionError as error:
        return ParsedDefinition(None, error.faults)
