"""What is behind a figure of a stored run, from the run's evidence alone.

No workbook, mapping, deal or setting of today has a part in it, so the answer is the same a year later.
"""

from __future__ import annotations

import hashlib
from typing import Final
from uuid import UUID

import msgspec

from core.compliance.result import Skipped, TestResult
from core.interpretation.reading import read_by
from core.portfolio import Portfolio
from core.portfolio.model.fields import Mapping
from core.portfolio.model.portfolio import GivenSource
from service.compliance import child, store
from service.compliance.schema import Evidence, NotOfThisRun, PartsQuery, ResultParts
from service.compliance.shared import calculate, read_definition, with_recorded_days
from service.mappings.shared import MappingAndJson
from service.platform.data.blobs import Damaged
from service.platform.route.api import Raw
from service.platform.unit.context import Context
from service.portfolios.shared import GivenDay, portfolio_of_book
from service.workbooks.shared import locate_columns

NOT_KEPT: Final = "the columns that the run read are no longer kept: their retention has ended"


async def parts(ctx: Context, run_id: UUID, test_id: str, query: PartsQuery) -> ResultParts | Raw:
    """Return the parts of a figure of a run, or why it has none."""
    evidence = await store.evidence(ctx, run_id)
    every: list[TestResult | Skipped] = [*evidence.results, *evidence.skipped]
    result = next((test_result for test_result in every if test_result.test_id == test_id), None)
    if result is None:
        raise NotOfThisRun
    order = child.PartsOrder(run_id, result, evidence.test_suite, query.offset, query.limit, query.format)
    if isinstance(result, Skipped):
        return child.without_parts(order, result.reason)
    if evidence.manifest is None:
        return child.without_parts(order, NOT_KEPT)
    definition = None
    if evidence.definition is not None:
        definition = (await read_definition(ctx, msgspec.json.decode(evidence.definition))).definition
    portfolio = await _portfolio(ctx, evidence, evidence.manifest)
    portfolio = with_recorded_days(portfolio, evidence.definition, msgspec.json.decode(evidence.options))
    if evidence.interpretation is not None:
        portfolio = read_by(portfolio, evidence.interpretation, definition)
    await ctx.commit()  # no connection is held while the figure is taken apart
    return await calculate(ctx, ctx.settings.compliance_seconds, child.parts, portfolio, definition, order)


async def _portfolio(ctx: Context, evidence: Evidence, manifest: str) -> Portfolio:
    """Return the loans that a run read, by its mapping and day.

    Raises:
        Damaged: the manifest or the columns are not those that were kept.
        MappingTooSlow: the mapping takes longer than it may.
    """
    if hashlib.sha256(manifest.encode()).hexdigest() != evidence.book_key:
        raise Damaged(evidence.book_key)
    mapping = MappingAndJson(msgspec.json.decode(evidence.mapping, type=Mapping), evidence.mapping)
    source = evidence.as_of_source
    given_source: GivenSource = "request" if source == "request" else "workbook" if source == "workbook" else "upload"
    book = await locate_columns(ctx, evidence.book_key, manifest)
    return await portfolio_of_book(ctx, book, mapping, GivenDay(evidence.as_of, given_source))
