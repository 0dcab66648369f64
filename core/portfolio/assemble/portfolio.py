"""The portfolio of callers: loans under standard names, with two ways to read."""

from __future__ import annotations

from collections.abc import Mapping as Dict
from datetime import date
from typing import Any, Final, Protocol

from core.checked import checked
from core.frames.given import is_frame
from core.grid.given import workbook_of
from core.grid.sheet import Workbook
from core.portfolio.assemble.columns import portfolio_from_columns
from core.portfolio.assemble.plausibility import with_days
from core.portfolio.assemble.read import portfolio_from_workbook
from core.portfolio.model.fields import Mapping
from core.portfolio.model.portfolio import Deal, GivenSource, PortfolioData, Tranches

DEFINITION_DAYS: Final = ("closing_date", "reinvestment_end", "stated_maturity")


class Portfolio(PortfolioData):
    """The loans of one deal, as in `PortfolioData`, with the two ways to read them."""

    __slots__ = ()

    @classmethod
    @checked
    def from_workbook(
        cls,
        book: Workbook | Any,
        mapping: Mapping | str | None = None,
        *,
        as_of: float | None = None,
        as_of_source: GivenSource = "upload",
    ) -> Portfolio:
        """Read the loans of a workbook's holdings, and what its other pages say.

        These are notes, deal, accounts and tests.

        A frame of pandas, polars, pyarrow or DuckDB is taken for a sheet with its headings in the first row.

        `mapping` may be the name of a built-in one; None is standard_clo. `as_of` (days since 1970-01-01) wins over
        what the file says where its source is "request" or "workbook". Else it counts where nothing of the file says a
        day. A workbook without holdings gives no rows, and notes that say so.

        Raises:
            UnknownMapping: no built-in mapping has the name.
        """
        if not isinstance(book, Workbook):
            if not is_frame(book):
                raise TypeError(f"book is a Workbook, as cushion.read gives it, or a frame, not {type(book).__name__}")
            book = workbook_of(book)
        return portfolio_from_workbook(book, mapping, None if as_of is None else (as_of, as_of_source), into=cls)

    @classmethod
    @checked
    def from_columns(
        cls,
        columns: Dict[str, Any] | Any,
        *,
        tranches: Tranches | Dict[str, Any] | None = None,
        deal: Deal | Dict[str, Any] | None = None,
    ) -> Portfolio:
        """Make a portfolio from arrays, lists or a frame under standard names.

        Figures are in the units of this class.

        Raises:
            MappingError: a required column is missing, lengths differ, a name is unknown, or a value does not fit.
        """
        return portfolio_from_columns(columns, tranches, deal, into=cls)


class DealDays(Protocol):
    """The days of a deal that its definition says; None where it does not."""

    closing_date: date | None
    reinvestment_end: date | None
    stated_maturity: date | None


class DefinitionDays(Protocol):
    """What reading asks of a deal's definition (`core.definition.Definition` is one)."""

    @property
    def conventions(self) -> DealDays: ...


def read(
    book: Workbook | Any,
    *,
    mapping: Mapping | str | None = None,
    as_of: float | None = None,
    as_of_source: GivenSource = "upload",
    definition: DefinitionDays | None = None,
) -> Portfolio:
    """Read the portfolio of a workbook or a frame (see `Portfolio.from_workbook`).

    The days of the `definition` count before those of the file; where the two differ, a warning says so.

    Raises:
        UnknownMapping: no built-in mapping has the name.
    """
    portfolio = Portfolio.from_workbook(book, mapping, as_of=as_of, as_of_source=as_of_source)
    if definition is None:
        return portfolio
    days = {name: getattr(definition.conventions, name) for name in DEFINITION_DAYS}
    return with_days(portfolio, days, "the definition", first=True)
