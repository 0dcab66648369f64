"""Quantities of loans: units, words and operations, as figures of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.questions.answer import Unit
from core.questions.answers.book import COMPARE, LoanSet, Unavailable
from core.questions.answers.statement import AS_FILED, COUNT_OF_LOANS, SUM_OF_PAR, Basis, Rows, Statement
from core.questions.query import Condition, Having
from core.questions.vocabulary import QUANTITIES, RATING_AGENCIES, RATINGS
from core.questions.wording import FIELD_UNITS, FIELD_WORDS
from core.values import day_of
from core.words import capitalize, counted

Mask = NDArray[np.bool_]
TEXTS: Final = RATINGS | {"lien", "industry", "country", "cusip", "loanx", "isin", "index", "currency"}
NAMED: Final = frozenset(("obligor", "facility", "cusip", "loanx", "isin"))
SUMS: Final = frozenset(("par", "share", "count"))
"""Quantities that a set without a loan has, too: nothing of it."""

_AMOUNTS: Final = {"par": "par_value", "market_value": "par_value x price / 100", "unfunded": "unfunded"}
_PLAIN: Final = frozenset(("par", "market_value", "facility_size"))
"""Quantities whose average is a plain one."""

_COMPARE: Final[dict[str, Any]] = COMPARE | {"=": np.isclose}


def unit_of(name: str) -> Unit:
    """Return the unit of a quantity."""
    return FIELD_UNITS[name] if name in FIELD_UNITS else QUANTITIES[name].unit


def flat(where: Sequence[Condition]) -> list[Condition]:
    return [leaf for part in where for leaf in (part.any_of if part.any_of and part.field != "not" else (part,))]


def _is_measure(name: str, how: str | None) -> bool:
    """Return whether a quantity of a set is the measure of a test."""
    has_test = name in QUANTITIES and QUANTITIES[name].test_id is not None
    return has_test and how in (None, "average") and name != "price"


def operation_of(name: str, how: str | None = None) -> str:
    """Return in words how a quantity of a set is made."""
    if name == "count":
        return COUNT_OF_LOANS
    if name == "share":
        return "sum of par_value of performing loans / collateral principal amount x 100"
    if name in _AMOUNTS and how in (None, "total"):
        return f"sum of {_AMOUNTS[name]} of performing loans"
    if _is_measure(name, how):
        return f"measure of the test {QUANTITIES[name].test_id} over these loans, performing ones"
    if how == "average" and name in _PLAIN:
        how = "simple"
    words = {"simple": "plain average", "median": "median", "total": "sum"}.get(
        how or "", "average weighted by par_value"
    )
    return f"{words} of {FIELD_WORDS.get(name, name)} of performing loans that have one"


def words_of(name: str, how: str | None = None) -> str:
    """Return a quantity of a set in words."""
    if name == "count":
        return "number of loans"
    if name == "share":
        return "share of the collateral principal amount"
    if name == "spread" and how in (None, "average"):
        return "average contractual spread"
    quantity = QUANTITIES.get(name)
    word = FIELD_WORDS.get(name) or QUANTITIES[name].name
    if how == "median":
        return f"median {word}"
    if how == "simple" or (how == "average" and name in _PLAIN):
        return f"unweighted average {word}"
    if quantity is not None and quantity.is_average and not quantity.name.startswith("weighted"):
        return f"{'total' if how == 'total' else 'average'} {word}"
    return quantity.name if quantity is not None else word


def how_of(name: str, how: str | None) -> str | None:
    """Return how a quantity beside others is made."""
    return None if name in SUMS else how


def add_quantity(
    statement: Statement, book: LoanSet, name: str, rows: Rows, how: str | None = None, *, of: str | None = None
) -> tuple[float | None, str]:
    """Add a quantity of some loans to a statement, and return it with its text."""
    value = book.measure(name, rows, how)
    basis = Basis(operation_of(name, how), book, rows)
    return value, statement.figure(words_of(name, how), value, unit_of(name), basis, of=of)


def add_par_and_share(statement: Statement, book: LoanSet, rows: Rows, *, together: bool = False) -> tuple[str, str]:
    """Add the par of some loans and its share of the collateral principal amount."""
    names = ("par together", "share together") if together else ("par", words_of("share"))
    par, share = (
        statement.figure(label, book.measure(name, rows), unit_of(name), Basis(operation_of(name), book, rows))
        for label, name in zip(names, ("par", "share"), strict=True)
    )
    return par, share


def tell_defaulted(statement: Statement, book: LoanSet, rows: Rows, names: Sequence[str]) -> None:
    """State what amounts and averages leave out."""
    left = rows[book.defaulted[rows]]
    if not len(left) or not book.performing[rows].any():
        return
    label, basis = "par of defaulted loans, not counted above", Basis(f"{SUM_OF_PAR} of defaulted loans", book, left)
    par = statement.figure(label, float(book.par[left].sum()), "amount", basis)
    is_are = "is" if len(left) == 1 else "are"
    loans = capitalize(counted(len(left), "defaulted loan"))
    statement.add(f"{loans} of {par} par {is_are} left out of amounts, shares and averages.")
    if "par" in names:
        total = float(book.par[rows].sum())
        statement.figure("par with defaulted loans", total, "amount", Basis(SUM_OF_PAR, book, rows))


def add_cell(statement: Statement, book: LoanSet, row: int, name: str) -> str:
    """Add what a column says of a loan, and return its text."""
    word = FIELD_WORDS.get(name) or QUANTITIES[name].name
    basis = Basis(AS_FILED, book, np.array([row]), identifier=book.identifier_of(row))
    unit: Unit = "bps" if name == "was" else unit_of(name)
    if name in TEXTS:
        value: Any = book.text_of(name, row)
        unit = "rating" if name in RATINGS else "text"
        if value is not None and unit == "text":
            statement.name(value)
    else:
        value = float(book.number(name)[row])
        value = None if np.isnan(value) else day_of(value) if name == "maturity" else value
    return statement.figure("contractual spread" if name == "was" else word, value, unit, basis, of=book.name_of(row))


def add_ratings(statement: Statement, book: LoanSet, row: int) -> list[str]:
    """Add what each agency rates a loan, and return the texts."""
    texts = []
    for name in RATING_AGENCIES:
        try:
            if book.text_of(name, row) is not None:
                texts.append(f"{QUANTITIES[name].name} {add_cell(statement, book, row, name)}")
        except Unavailable:
            continue
    return texts or ["no rating"]


def compare(values: NDArray[np.float64], having: Having) -> Mask:
    """Return which values fulfil a comparison; a blank does not."""
    with np.errstate(invalid="ignore"):
        if having.op == "between":
            assert having.high is not None
            return np.asarray((values >= having.value) & (values <= having.high))
        return np.asarray(_COMPARE[having.op](values, having.value) & np.isfinite(values))


def array_of(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Return numbers as an array, NaN for none."""
    return np.array([np.nan if value is None else value for value in values], np.float64)
