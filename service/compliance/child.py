"""What a confined child does for compliance: run a suite by somebody's own rules, and make a definition of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from msgspec import Struct

from core.compliance.result import Results, Skipped, TestResult
from core.compliance.run import UnknownTest, run_suite
from core.definition.definition import Definition
from core.definition.document import DefinitionError, parse
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import AsOfSource


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
            figures=self.figures,
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
