"""What the analyst says.

Sentences, each figure of them with the recipe that gives it again from the file's columns.
"""

from __future__ import annotations

from datetime import date
from textwrap import wrap
from typing import Any, Final, Literal, get_args

from msgspec import Struct, to_builtins

from core.frames.brief import brief, shortened
from core.frames.notebook import card, table

Category = Literal["financial_health", "risk_compliance", "trends_forecasts", "portfolio_composition", "data_quality"]
CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)

Stakeholder = Literal["executive", "finance", "operations", "analyst"]
STAKEHOLDERS: Final[tuple[Stakeholder, ...]] = get_args(Stakeholder)

Unit = Literal[
    "percent", "points", "price", "factor", "score", "years", "amount", "number", "bps", "days", "count", "date"
]
"""Percent, and the difference of two percentages in points; price is percent of par; amount is money of the deal's
currency; count is of things that the text names; number has no unit."""

Operation = Literal[
    "test", "tests", "sum", "count", "share", "average", "least", "most", "weighted", "total", "difference",
    "quotient", "movement", "headroom", "given",
]  # fmt: skip
Book = Literal["newest", "earlier"]
Asked = Literal[
    "equal", "above", "below", "at_least", "at_most", "known", "blank", "rose", "fell", "unchanged", "only_here"
]


class FigureCondition(Struct, frozen=True, omit_defaults=True):
    """What a loan must be.

    `rose`, `fell` and `unchanged` compare a column with the same loan's of the other month, `only_here` says that the
    other month does not have the loan; loans of two months are paired as a reconciliation pairs them.
    """

    column: str
    """A field of a portfolio. A rating is its rank, 1 (Aaa, AAA) to 22 (defaulted), 0 for none, as the deal's rules
    derive it; `worst_rating` is the worst of the agencies', `year` that in which the loan matures."""
    is_: Asked
    value: float | str | None = None
    """A day as days since 1970-01-01."""

    __repr__ = brief


class PortfolioChange(Struct, frozen=True, omit_defaults=True):
    """What is done to the portfolio before a test is run."""

    kind: Literal["downgrade", "default", "buy"]
    where: list[FigureCondition] = []
    """The loans that are downgraded or that default, of the performing ones."""
    notches: int = 0
    """By which every rating of these loans falls, to C at most."""
    trades: list[dict[str, Any]] = []
    """What is bought, as a scenario takes it."""

    __repr__ = brief


class FigureRecipe(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a figure is worked out again.

    `test`: the `part` of a test's result in a run over the `book` after `change`. `tests`: how many tests of the run
    have the status `part`, or are all, skipped, total (with these), doubtful (the status may be wrong), certain_fail
    (fail and are not doubtful) or usual (held to a limit of the suite or of a ready-made definition).

    Over the loans of the `book` that meet every condition and have a par: `sum` of `column`, how many (`count`),
    `share` of par in percent of `of`, mean of `column` weighted by par (`average`), its ends (`least`, `most`), sum of
    par x `column` x `times` (`weighted`). `total`, `difference` and `quotient`: of the figures named in `figures`,
    times `times`. `movement`: what a class of changes alone (`part`), or a loan of it, did to a test's figure
    (`core.deals.movements`). `headroom`: the most par that can be bought, in equal parts of the trades of `change`,
    until a test fails. `given`: stands at `place`.
    """

    operation: Operation
    book: Book = "newest"
    test_id: str | None = None
    part: str | None = None
    """Of a test: value, limit or cushion; slack, what its numerator may gain or lose until the test fails; else a path
    in the breakdown of its details. Of a movement: the class of changes."""
    change: PortfolioChange | None = None
    column: str | None = None
    where: list[FigureCondition] = []
    loans: Literal["performing", "defaulted", "all", "notes"] = "performing"
    """Of the notes, the rated ones, weighted by their balance."""
    of: Literal["par", "cpa", "denominator"] | None = None
    """Performing par; that and principal cash; the same with defaulted loans as the deal counts them."""
    figures: list[str] = []
    times: float = 1.0
    row: int | None = None
    """Of a `sum`, the one loan whose value it is, by its place from 0."""
    loan: str | None = None
    """Of a movement, the loan that moved it, by its name."""
    place: str | None = None

    __repr__ = brief


class InsightFigure(Struct, frozen=True, kw_only=True):
    """A figure that a sentence prints."""

    name: str
    """What it is, for a reader; one name for one figure of an insight."""
    value: float | int | date
    unit: Unit
    text: str
    """As the sentence prints it, with its unit."""
    recipe: FigureRecipe

    __repr__ = brief


class LoanRef(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A loan that is behind an insight."""

    row: int
    """Its place among the loans that were read, from 0."""
    name: str
    identifier: str | None = None
    par: float | None = None

    __repr__ = brief


LOANS_SHOWN: Final = 25
"""Loans that an insight lists, those that weigh most first."""


class Insight(Struct, frozen=True, kw_only=True):
    """One thing that a reader should know."""

    key: str
    """What tells it from the other insights of the same subjects, such as "thin_cushion:oc_ratio"."""
    subject: str
    """The name of the deal or workbook; of several, their names."""
    workbook_id: str | None
    category: Category
    title: str
    summary: str
    confidence: float
    """0 to 1, by the rule of `core.insights.ranking`."""
    priority: int
    """1 (act today) to 5 (for information), by the same."""
    methodology: str
    figures: list[InsightFigure]
    names: list[str]
    """Names out of the file that the sentences print; digits in them are no figures."""
    tests: list[str]
    loans: list[LoanRef]
    loans_in_all: int
    columns: dict[str, str]
    """Field -> the cells that it was read from; empty where the loans come from no sheet."""
    as_of: date | None
    remarks: list[str]
    """Warnings on which the figures rest."""

    @property
    def supporting_data(self) -> dict[str, Any]:
        """What the sentences rest on, as plain JSON."""
        data: dict[str, Any] = to_builtins({name: getattr(self, name) for name in _SUPPORTING})
        return data

    def __repr__(self) -> str:
        return shortened(f"Insight({self.title[:400]!r}, priority={self.priority})")

    def _repr_html_(self) -> str:
        rows = [[figure.name, figure.text] for figure in self.figures[:LOANS_SHOWN]]
        lines = [*wrap(self.summary, 110), *self.remarks]
        return card(self.title, lines, *([table(["figure", "value"], rows)] if rows else []))


_SUPPORTING: Final = (
    "subject", "workbook_id", "as_of", "figures", "names", "tests", "loans", "loans_in_all", "columns", "remarks",
)  # fmt: skip
