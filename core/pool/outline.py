"""A portfolio's outline: its deal and which columns it has, without loans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

from core.compliance.ladders import are_mostly_unrated
from core.compliance.stand_ins import with_stand_ins
from core.compliance.stated import with_stated
from core.compliance.view import AllLoans
from core.definition.definition import Definition
from core.definition.terms import AGENCIES
from core.pool.absent import AbsentColumn, AbsentNames
from core.pool.chunk import COUNTED_NOTES, OBLIGOR_COLUMNS, Settled, read_chunk
from core.pool.columns import words_of
from core.pool.source import PoolFile, PoolRefused, PoolSource
from core.pool.sums import PoolSums
from core.portfolio import Portfolio
from core.portfolio.assemble.plausibility import LoanCounts, doubts, with_days
from core.portfolio.assemble.portfolio import DEFINITION_DAYS
from core.portfolio.cells import category_cells
from core.portfolio.model.fields import IDENTIFIERS
from core.portfolio.model.notes import DataWarning, Notes
from core.portfolio.model.portfolio import Deal, Tranches
from core.words import counted

SHOWN_MAX: Final = 10
"""Headings that a warning names."""

_NEVER_READ: Final = frozenset(("fx_rate", "asset_id", *IDENTIFIERS, "facility_name", *OBLIGOR_COLUMNS))
"""Fields that no sum asks; what tells obligors is read beside them."""

_OF_DEFINITIONS: Final = frozenset(
    (
        "unfunded", "payment_frequency", "is_pik", "is_revolving", "is_delayed_draw", "is_bridge", "watch_a", "watch_b",
        "watch_c",
    )
)  # fmt: skip
"""Fields that definitions alone ask."""


def targets_of(source: PoolSource, definition: Definition | None) -> frozenset[str]:
    """Return the fields that tests may ask, but for those that tell obligors.

    Raises:
        PoolRefused: a test of the definition asks for texts that are as many as the loans.
    """
    targets = source.targets() - _NEVER_READ
    return targets - _OF_DEFINITIONS if definition is None or definition.standard else targets


def outline_of(source: PoolSource, settled: Settled, deal: Deal, tranches: Tranches | None) -> Portfolio:
    """Return a pool's portfolio without loans: reading one raises `NotStreamed`."""
    nothing = PoolFile("", source.name, (), frozenset())
    empty = _empty()
    read = read_chunk(empty, {}, nothing, source, settled, deal, source.targets() - set(OBLIGOR_COLUMNS))
    columns = read.portfolio
    if deal.as_of is None and settled.as_of_column is not None:
        deal = replace(deal, as_of=settled.as_of_column, as_of_source="column")
    if deal.currency is None and settled.currency is not None:
        deal = replace(deal, currency=settled.currency)
    names: dict[str, Any] = {name: AbsentNames(()) for name in columns.names}
    own = [target for target in OBLIGOR_COLUMNS if target in source.targets()]
    names |= {name: AbsentNames(()) for name in (*own, *(["obligor"] if own else []))}
    absent = cast(Any, AbsentColumn())
    notes = Notes()
    notes.holdings_found = True
    notes.matched_columns = {field.target: field.heading for field in source.fields}
    return Portfolio(
        source.row_count,
        dict.fromkeys(columns.numbers, absent),
        names,
        dict.fromkeys(columns.flags, absent),
        dict.fromkeys(columns.ranks, absent),
        None if columns.lien is None else absent,
        tranches,
        deal,
        sheet_name=source.name,
        notes=notes,
    )


def _empty() -> Any:
    import pyarrow  # type: ignore[import-untyped]

    return pyarrow.RecordBatch.from_pylist([], schema=pyarrow.schema([]))


def with_definition(outline: Portfolio, definition: Definition | None, counts: LoanCounts | None = None) -> Portfolio:
    """Return the outline with what a definition says of its deal and of its columns.

    Raises:
        PoolRefused: the definition states levels of the indexes that a column of the pool names.
    """
    if definition is None:
        return outline
    if definition.index_rates and "base_rate" in outline.names:
        raise PoolRefused(
            f"{outline.sheet_name}: the definition states levels of indexes, which are not taken for the column "
            "base_rate of a pool: give the level of each loan in percent as base_rate_level, or leave the column out"
        )
    days = {name: getattr(definition.conventions, name) for name in DEFINITION_DAYS}
    dated = with_days(outline, days, "the definition", first=True, counts=LoanCounts() if counts is None else counts)
    return with_stand_ins(with_stated(dated, definition), definition)


def with_counts(outline: Portfolio, total: PoolSums, source: PoolSource) -> Portfolio:
    """Return the outline with what all loans make doubtful."""
    notes = replace(outline.notes)
    for name in COUNTED_NOTES:
        setattr(notes, name, total.notes[name])
    notes.ignored_blank_par = notes.loans_without_par
    for target, counts in total.words.items():
        notes.warnings = [*notes.warnings, *words_of(target, counts)[1]]
    counted_outline = replace(outline, row_count=total.row_count, notes=notes)
    notes.warnings = [*notes.warnings, *doubts(counted_outline, total.loan_counts), *_of_pool(source, total)]
    return counted_outline


def _of_pool(source: PoolSource, total: PoolSums) -> list[DataWarning]:
    """Return what is said of a pool for being one."""
    warnings = [DataWarning("pool_left_out", note) for note in source.notes]
    if source.unused:
        shown = ", ".join(source.unused[:SHOWN_MAX]) + (", ..." if len(source.unused) > SHOWN_MAX else "")
        warnings.append(
            DataWarning("pool_left_out", f"{counted(len(source.unused), 'column', 'names/name')} no field: {shown}")
        )
    identifiers = sorted(source.targets() & set(IDENTIFIERS))
    if identifiers:
        warnings.append(
            DataWarning(
                "lots_not_added",
                f"each row counts as a loan of its own: rows of one {' or '.join(identifiers)} are not added up",
            )
        )
    if len(total.currencies) > 1:
        shown = ", ".join(sorted(total.currencies)[:SHOWN_MAX])
        warnings.append(
            DataWarning("currencies_mixed", f"loans in several currencies ({shown}) are added up as they are")
        )
    return warnings


def learn(total: PoolSums, plan_settled: Settled, source: PoolSource, deal: Deal) -> Settled:
    """Return what is read of each loan by what all loans say.

    Ids and names that tell obligors together still do so.
    """
    words = {target: words_of(target, counts)[0] for target, counts in sorted(total.words.items())}
    view = total.views.get("value")
    has_both = all(target in source.targets() for target in OBLIGOR_COLUMNS)
    return Settled(
        as_of_column=total.as_of,
        coupons=total.coupons,
        words=tuple((target, meaning) for target, meaning in words.items() if any(meaning)),
        of_all=AllLoans(
            view is not None and are_mostly_unrated(view.unrated_rows, total.row_count),
            next((agency for agency in AGENCIES if total.equal_recoveries.get(agency)), None),
        ),
        spelling=_spelling(list(total.industries)),
        currency=None if deal.currency is not None else _currency(total.currencies),
        has_pairs=has_both and (plan_settled.has_pairs or _has_blank_ids(total)),
    )


def _has_blank_ids(total: PoolSums) -> bool:
    """Return whether some loan has no id: a null, or a name without a sign."""
    if total.obligors.blank_rows:
        return True
    offsets, data = total.obligors.names()
    short = [at for at, size in enumerate((offsets[1:] - offsets[:-1]).tolist()) if size <= BLANK_BYTES_MAX]
    return any(not bytes(data[offsets[at] : offsets[at + 1]]).decode("utf-8", "replace").strip() for at in short)


BLANK_BYTES_MAX: Final = 64
"""Bytes of a name that may be nothing but spaces."""


def _spelling(texts: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the industries that all loans spell otherwise than each alone."""
    alone = [category_cells.industries([text])[0] for text in texts]
    together = category_cells.industries(texts)
    return tuple(sorted((text, ours) for text, own, ours in zip(texts, alone, together, strict=True) if own != ours))


def _currency(rows: dict[str, int]) -> str | None:
    """Return the currency of most loans, of equals the first by name."""
    named = sorted(rows)
    most = max(named, key=rows.__getitem__, default=None)
    return most if most is not None and rows[most] else None
