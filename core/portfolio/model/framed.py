"""A portfolio's loans and a deal's notes as columns, and as notebook tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.frames.brief import missing, value_shown
from core.frames.figures import figure_shown
from core.frames.frame import Frame, FrameColumn, day_column, pool_of, text_column
from core.frames.notebook import COLUMNS_SHOWN, card, left_out, places, table
from core.portfolio.model.fields import AUXILIARY_FIELDS, STANDARD_CLO_FIELDS, Lien
from core.portfolio.model.notes import warning_texts
from core.portfolio.model.ratings import AGENCY_OF, DEFAULTED, SCALE_A, SCALE_B
from core.values import day_of
from core.words import counted

if TYPE_CHECKING:
    from core.portfolio.model.portfolio import Deal, Names, PortfolioData, Tranches

PAR_ROWS_MAX: Final = 200_000
"""Loans of which a repr adds up the par, so that it stays below a millisecond."""

_FIRST: Final = (
    "borrower_name", "facility_name", "cusip", "loanx_id", "isin", "par_value", "price", "spread", "rating_agency_a",
    "rating_agency_b", "industry", "maturity_date",
)  # fmt: skip
"""Columns that a reader looks for, in this order; all others follow."""

_FIELDS: Final = (*STANDARD_CLO_FIELDS, *AUXILIARY_FIELDS)
_ORDER: Final = {name: at for at, name in enumerate(dict.fromkeys((*_FIRST, *(field.target for field in _FIELDS))))}
_DAYS: Final = frozenset(field.target for field in _FIELDS if field.type == "date")
_RANK: Final = "_rank"
_DEFAULTED: Final = "defaulted"


def names_of(portfolio: PortfolioData, *, derived: bool = True) -> list[str]:
    """Return the columns of a portfolio, in their order."""
    names = {*portfolio.numbers, *portfolio.names, *portfolio.flags, *portfolio.ranks}
    if portfolio.lien is not None:
        names.add("lien_type")
    ordered = sorted(names, key=lambda name: (_ORDER.get(name, len(_ORDER)), name))
    if not derived:
        return [name for name in ordered if name != "obligor"]
    lots = [
        name
        for name, column in (("lots", portfolio.lots), ("conflicting", portfolio.conflicting))
        if column is not None
    ]
    return [*ordered, *(name + _RANK for name in ordered if name in portfolio.ranks), _DEFAULTED, *lots]


def column_of(portfolio: PortfolioData, name: str) -> FrameColumn:
    """Return one column of a portfolio.

    Raises:
        KeyError: there is none of the name; the message has what is near.
    """
    if not isinstance(name, str):
        raise missing("column", name, names_of(portfolio))
    if name in portfolio.names:
        return _names_column(portfolio.names[name])
    if name in portfolio.numbers:
        values = portfolio.numbers[name]
        return day_column(values) if name in _DAYS else FrameColumn(values)
    if name in portfolio.flags:
        return FrameColumn(portfolio.flags[name] != 0)
    if name in portfolio.ranks:
        scale = SCALE_A if AGENCY_OF.get(name) == "a" else SCALE_B
        return _codes_column(portfolio.ranks[name], [*scale, "D"][:DEFAULTED])
    if name == "lien_type" and portfolio.lien is not None:
        return _codes_column(portfolio.lien, [lien.name.lower() for lien in Lien][1:])
    derived = _derived_column(portfolio, name)
    if derived is None:
        raise missing("column", name, names_of(portfolio))
    return derived


def _derived_column(portfolio: PortfolioData, name: str) -> FrameColumn | None:
    """Return a column that is worked out from others."""
    if (of := name.removesuffix(_RANK)) != name and of in portfolio.ranks:
        ranks = portfolio.ranks[of]
        return FrameColumn(ranks, None, ranks != 0)
    if name == _DEFAULTED:
        return FrameColumn(portfolio.defaulted())
    if name == "lots" and portfolio.lots is not None:
        return FrameColumn(portfolio.lots.astype(np.int64))
    if name == "conflicting" and portfolio.conflicting is not None:
        return FrameColumn(portfolio.conflicting)
    return None


def _names_column(names: Names) -> FrameColumn:
    text = getattr(names.values, "text", None)  # of `Strings`, which stand in memory as a pool does
    return FrameColumn(names.codes, pool_of(names.values) if text is None else (text.offsets, text.data))


def _codes_column(codes: NDArray[np.uint8], words: Sequence[str]) -> FrameColumn:
    """Return text from codes of which 1 is the first word and 0 is blank."""
    return FrameColumn(codes.astype(np.int32) - 1, pool_of(words))


def frame_of(portfolio: PortfolioData, *, derived: bool) -> Frame:
    """See `Portfolio.frame`."""
    attrs: dict[str, Any] = {"deal": _describe_deal(portfolio.deal), "sheet": portfolio.sheet_name}
    if portfolio.notes.warnings:
        attrs["warnings"] = [f"{warning.code}: {warning.message}" for warning in portfolio.notes.warnings]
    columns = {name: column_of(portfolio, name) for name in names_of(portfolio, derived=derived)}
    return Frame(columns, portfolio.row_count, attrs)


def repr_of(portfolio: PortfolioData) -> str:
    """Return loans, par, day and warnings in one line."""
    parts = [counted(portfolio.row_count, "loan")]
    if portfolio.row_count <= PAR_ROWS_MAX and "par_value" in portfolio.numbers:
        with np.errstate(invalid="ignore", over="ignore"):
            par = float(np.nansum(portfolio.numbers["par_value"]))
        parts.append(f"par {figure_shown(par)}{f' {portfolio.deal.currency:.10}' if portfolio.deal.currency else ''}")
    if (day := day_of(portfolio.deal.as_of)) is not None:
        parts.append(f"as of {day.isoformat()}")
    if portfolio.notes.warnings:
        parts.append(counted(len(portfolio.notes.warnings), "warning"))
    return f"Portfolio({', '.join(parts)})"


def html_of(portfolio: PortfolioData) -> str:
    """Return the first and the last loans, and what is to be known of them."""
    names = names_of(portfolio)
    row_places = places(portfolio.row_count)
    rows = np.array([row for row in row_places if row is not None], np.int64)
    columns = [column_of(portfolio, name).taken(rows) for name in names[:COLUMNS_SHOWN]]
    values: list[Any] = [list(row) for row in zip(*columns, strict=True)]
    if None in row_places:
        values.insert(row_places.index(None), None)
    lines = [left_out(portfolio.row_count, "loans")]
    if len(names) > COLUMNS_SHOWN:
        lines.append(f"{len(names) - COLUMNS_SHOWN} more columns: {', '.join(names[COLUMNS_SHOWN:])}")
    lines += warning_texts(portfolio.notes.warnings)
    if not portfolio.row_count:
        lines.append(portfolio.notes.message)
    tables = [table(names[:COLUMNS_SHOWN], values)] if values else []
    return card(repr(portfolio), lines, *tables)


# ---- the deal and its notes


DEAL_DAYS: Final = ("as_of", "closing_date", "reinvestment_end", "stated_maturity", "next_payment")


def _describe_deal(deal: Deal) -> dict[str, Any]:
    """Return what is known of a deal; its days ISO."""
    known = {name: getattr(deal, name) for name in type(deal).__dataclass_fields__}
    numbers = {name: known[name] for name in DEAL_DAYS if isinstance(known[name], int | float)}
    days = {name: day.isoformat() for name, number in numbers.items() if (day := day_of(number)) is not None}
    return {name: value for name, value in (known | days).items() if value is not None}


def deal_repr(deal: Deal) -> str:
    """Return the deal's known fields, days as days, in one line."""
    parts: list[str] = []
    for name, value in _describe_deal(deal).items():
        text = value if name in DEAL_DAYS and isinstance(value, str) else value_shown(value)
        if sum(map(len, parts)) + len(name) + len(text) + 3 * len(parts) > 180:
            parts.append("...")
            break
        parts.append(f"{name}={text}")
    return f"Deal({', '.join(parts)})"


def deal_html(deal: Deal) -> str:
    """Return the deal's fields that are known."""
    known = _describe_deal(deal)
    return card(
        "Deal", [] if known else ["nothing is known"], table(["field", "value"], list(map(list, known.items())))
    )


def tranches_frame(tranches: Tranches) -> Frame:
    """See `Tranches.frame`."""
    columns = {"class": text_column(tranches.classes)}
    for name in ("current_balance", "original_balance", "coupon", "spread", "oc_trigger", "ic_trigger"):
        columns[name] = FrameColumn(getattr(tranches, name))
    columns["rank"] = FrameColumn(tranches.rank.astype(np.int64))
    columns["deferred_interest"] = FrameColumn(tranches.deferred_interest)
    columns["interest_due"] = FrameColumn(tranches.interest_due)
    columns["is_income"] = FrameColumn(tranches.is_income)
    return Frame(columns, len(tranches.classes))


def tranches_html(tranches: Tranches) -> str:
    """Return the first and the last notes."""
    frame = tranches_frame(tranches)
    row_places = places(frame.row_count)
    rows = np.array([row for row in row_places if row is not None], np.int64)
    values: list[Any] = [
        list(row) for row in zip(*(column.taken(rows) for column in frame.columns.values()), strict=True)
    ]
    if None in row_places:
        values.insert(row_places.index(None), None)
    return card(repr(tranches), [left_out(frame.row_count, "notes")], table([*frame.columns], values))
