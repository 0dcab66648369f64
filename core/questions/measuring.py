"""Quantities of loans: their units, words and operations, the cells of a list, comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.insights.words import plain
from core.questions.answer import Unit
from core.questions.loans import Book, Unavailable
from core.questions.query import Condition, Having
from core.questions.saying import Said, capital
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import (
    FIELD_UNITS,
    FIELD_WORDS,
)
from core.values import day_of
from core.words import counted

Mask = NDArray[np.bool_]
RATINGS: Final = frozenset(("rating", "moodys_rating", "sp_rating", "fitch_rating"))
TEXTS: Final = RATINGS | {"lien", "industry", "country", "cusip", "loanx", "isin", "index", "currency"}
NAMED: Final = frozenset(("obligor", "facility", "cusip", "loanx", "isin"))


def unit_of(name: str) -> Unit:
    """The unit of a quantity."""
    if name in FIELD_UNITS:
        return FIELD_UNITS[name]
    return QUANTITIES[name].unit


def flat(where: Sequence[Condition]) -> list[Condition]:
    return [leaf for one in where for leaf in (one.any_of if one.any_of and one.field != "not" else (one,))]


def operation_of(name: str, how: str | None) -> str:
    if name == "count":
        return "number of loans with a par"
    if name == "share":
        return "sum of par_value of performing loans / collateral principal amount x 100"
    if name in ("par", "market_value", "unfunded") and how in (None, "total"):
        what = {"par": "par_value", "market_value": "par_value x price / 100", "unfunded": "unfunded"}[name]
        return f"sum of {what} of performing loans"
    test_id = QUANTITIES[name].test_id if name in QUANTITIES else None
    if test_id is not None and how in (None, "average") and name != "price":
        return f"measure of the test {test_id} over these loans, performing ones"
    words = {"simple": "plain average", "median": "median", "total": "sum"}.get(
        how or "", "average weighted by par_value"
    )
    if how == "average" and name in ("par", "market_value", "facility_size"):
        words = "plain average"
    return f"{words} of {FIELD_WORDS.get(name, name)} of performing loans that have one"


def tell_defaulted(said: Said, book: Book, mask: Mask, names: Sequence[str]) -> None:
    """What amounts and averages leave out."""
    out = mask & book.defaulted
    if not out.any() or not (mask & book.performing).any():
        return
    rows = np.flatnonzero(out)
    par = said.figure(
        "par of defaulted loans, not counted above",
        float(book.par[out].sum()),
        "amount",
        "sum of par_value of defaulted loans",
        book=book,
        rows=rows,
    )
    said.sentences.append(
        f"{capital(counted(len(rows), 'defaulted loan'))} of {par} par "
        f"{'is' if len(rows) == 1 else 'are'} left out of amounts, shares and averages."
    )
    if "par" in names:
        said.figure(
            "par with defaulted loans",
            float(book.par[mask].sum()),
            "amount",
            "sum of par_value",
            book=book,
            rows=np.flatnonzero(mask),
        )


def quantity_words(name: str, how: str | None) -> str:
    if name == "share":
        return "share of the collateral principal amount"
    if name == "spread" and how in (None, "average"):
        return "average contractual spread"
    word = FIELD_WORDS.get(name) or QUANTITIES[name].name
    if how == "median":
        return f"median {word}"
    if how == "simple" or (how == "average" and name in ("par", "market_value", "facility_size")):
        return f"unweighted average {word}"
    quantity = QUANTITIES.get(name)
    if quantity is not None and quantity.is_average and not quantity.name.startswith("weighted"):
        return f"average {word}" if how != "total" else f"total {word}"
    return QUANTITIES[name].name if name in QUANTITIES else word


def ratings_of(said: Said, book: Book, row: int) -> list[str]:
    told = []
    for name in ("moodys_rating", "sp_rating", "fitch_rating"):
        try:
            text = book.text_of(name, row)
        except Unavailable:
            continue
        if text is not None:
            told.append(f"{QUANTITIES[name].name} {cell(said, book, row, name)}")
    return told or ["no rating"]


def cell(said: Said, book: Book, row: int, name: str) -> str:
    """What a column says of a loan, as a figure of the answer."""
    of, identifier, at = book.name_of(row), book.identifier_of(row), np.array([row])
    word = FIELD_WORDS.get(name) or QUANTITIES[name].name
    if name in TEXTS:
        text = book.text_of(name, row)
        unit: Unit = "rating" if name in RATINGS else "text"
        if text is not None and unit == "text":
            said.names[plain(text)] = None
        return said.figure(word, text, unit, "as the file has it", of=of, identifier=identifier, book=book, rows=at)
    value = float(book.number(name)[row])
    if name == "maturity":
        return said.figure(
            word, day_of(value), "date", "as the file has it", of=of, identifier=identifier, book=book, rows=at
        )
    if name == "was":
        word = "contractual spread"
    unit = "bps" if name == "was" else unit_of(name)
    return said.figure(
        word,
        None if np.isnan(value) else value,
        unit,
        "as the file has it",
        of=of,
        identifier=identifier,
        book=book,
        rows=at,
    )


def compared(values: NDArray[np.float64], having: Having) -> Mask:
    """Which values fulfil a comparison; a blank does not."""
    with np.errstate(invalid="ignore"):
        if having.op == "between":
            assert having.high is not None
            return np.asarray((values >= having.value) & (values <= having.high))
        operators: dict[str, Callable[..., Any]] = {
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
            "=": np.isclose,
        }
        return np.asarray(operators[having.op](values, having.value) & np.isfinite(values))


def change_unit(name: str) -> Unit:
    unit = unit_of(name)
    return "points" if unit in ("percent", "price") else unit


def par_and_share(
    said: Said, book: Book, mask: Mask, rows: NDArray[np.intp], *, together: bool = False
) -> tuple[str, str]:
    """The par of some loans and its share of the collateral principal amount, as they are printed.

    Args:
        rows: the loans of `mask` in the order in which they are told.
    """
    behind = " together" if together else ""
    named = "share together" if together else "share of the collateral principal amount"
    par = said.figure(
        f"par{behind}", book.measure("par", mask), "amount", operation_of("par", None), book=book, rows=rows
    )
    share = said.figure(
        named, book.measure("share", mask), "percent", operation_of("share", None), book=book, rows=rows
    )
    return par, share
