"""What a definition states of the file.

Amounts where it has none, corrections of wrong ones, levels of indexes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.coverage import letter_of
from core.definition.definition import Amounts, Correction, Definition
from core.definition.terms import CLASS_FIGURES, FIGURES
from core.portfolio import Portfolio
from core.portfolio.cells.rate_cells import index_name
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import Deal, Names, Tranches
from core.values import day_of
from core.words import counted

_NO_AMOUNTS: Final = Amounts()

_MAIN_TENOR: Final = "-3M"
"""What an index without a tenor is taken for where several are stated."""

CENT: Final = 0.005
"""Two amounts that differ by no more are one, as printed."""

RATE_TOLERANCE: Final = 5e-5
"""Percent by which two levels of an index may differ and be one, as printed to four decimals."""


@dataclass(slots=True)
class _Statements:
    """What is taken of a definition, and the warnings about it."""

    taken: dict[str, float] = field(default_factory=dict)
    """Field of the deal -> its amount."""
    seen: dict[str, float] = field(default_factory=dict)
    """Of `_key` -> what the definition says of it."""
    of_classes: list[tuple[str, int, float]] = field(default_factory=list)
    """(field of the notes, row, amount)."""
    warnings: list[DataWarning] = field(default_factory=list)


def with_stated(portfolio: Portfolio, definition: Definition) -> Portfolio:
    """Return the portfolio with what the definition states of its deal and of the levels of indexes, with a warning for
    each.

    What was said of a portfolio once is not said again: trades move cash, and a second run leaves it.
    """
    if definition.amounts == _NO_AMOUNTS and not definition.corrections and not definition.index_rates:
        return portfolio
    statements, before = _Statements(), portfolio.notes.stated
    for correction in _corrections_of(definition.corrections, portfolio.deal):
        if before.get(_key(correction)) != correction.amount:
            _correct(correction, portfolio, statements)
    for name, amount in _amounts_of(definition.amounts):
        if name not in before and name not in statements.seen:
            _state(name, amount, portfolio, statements)
    statements.warnings += _of_other_days(definition.corrections, portfolio)
    if statements.seen or statements.warnings:
        warnings = [*portfolio.notes.warnings, *statements.warnings]
        notes = replace(portfolio.notes, stated=before | statements.seen, warnings=warnings)
        deal = replace(portfolio.deal, **statements.taken)  # type: ignore[arg-type]
        tranches = _notes_with(portfolio.tranches, statements.of_classes)
        portfolio = replace(portfolio, deal=deal, tranches=tranches, notes=notes)
    return _with_index_rates(portfolio, dict(definition.index_rates)) if definition.index_rates else portfolio


def _key(correction: Correction) -> str:
    """Return what a correction is of, as `Notes.stated` has it."""
    return correction.figure if correction.class_ is None else f"{correction.figure} {correction.class_}"


def _amounts_of(amounts: Amounts) -> Iterator[tuple[str, float]]:
    for row in fields(amounts):
        if (amount := getattr(amounts, row.name)) is not None:
            yield row.name, amount


def _corrections_of(corrections: Sequence[Correction], deal: Deal) -> list[Correction]:
    """Return the corrections of a file of the deal's day.

    Of a figure that of this day alone, else that of every day.
    """
    day = day_of(deal.as_of)
    chosen = {_key(correction): correction for correction in corrections if correction.as_of is None}
    chosen |= {
        _key(correction): correction
        for correction in corrections
        if correction.as_of is not None and correction.as_of == day
    }
    return list(chosen.values())


def _of_other_days(corrections: Sequence[Correction], portfolio: Portfolio) -> list[DataWarning]:
    """Return that dated corrections are left out of a file that does not say its day."""
    deal, day = portfolio.deal, day_of(portfolio.deal.as_of)
    is_stated = day is not None and deal.as_of_source not in _STAND_INS
    others = [correction for correction in corrections if correction.as_of is not None and correction.as_of != day]
    warnings = (
        []
        if is_stated
        else [
            DataWarning(
                "correction_left_out",
                f"the definition's correction of {_named_figure(each)} is for {each.as_of}, and the file "
                "does not say its day" + ("" if day is None else f": {day} stands in"),
                fields=(_field(each),),
            )
            for each in others
        ]
    )
    return [warning for warning in warnings if warning not in portfolio.notes.warnings]


_STAND_INS: Final = ("modified", "upload")
"""Who says a day that is not the file's own."""


def _field(correction: Correction) -> str:
    """Return what it corrects, as a warning names fields."""
    return f"deal.{correction.figure}" if correction.class_ is None else f"tranches.{correction.figure}"


def _named_figure(correction: Correction) -> str:
    if correction.class_ is None:
        return FIGURES[correction.figure]
    name = correction.class_ if correction.class_.lower().startswith("class") else f"class {correction.class_}"
    return f"the {CLASS_FIGURES[correction.figure]} of {name}"


def _own(portfolio: Portfolio, figure: str) -> float | None:
    """Return the file's figure; None where it has none."""
    return _finite(getattr(portfolio.deal, figure))


def _finite(amount: float | None) -> float | None:
    return amount if amount is not None and isfinite(amount) else None


def _place(portfolio: Portfolio, field: str) -> str:
    cell = portfolio.source_cells.get(field)
    return f" ({cell})" if cell else ""


def _show(figure: str, amount: float) -> str:
    return f"{amount:.6g} %" if figure in _RATES else f"{amount:,.2f}"


_RATES: Final = ("base_rate", "coupon")


def _correct(correction: Correction, portfolio: Portfolio, statements: _Statements) -> None:
    """Take a corrected figure of the deal or of a class.

    Tell of it where the file has another.
    """
    if correction.class_ is None:
        own = _own(portfolio, correction.figure)
        statements.taken[correction.figure] = correction.amount
    else:
        rows = [] if portfolio.tranches is None else _rows_of(portfolio.tranches, correction.class_)
        if len(rows) != 1 or portfolio.tranches is None:
            statements.warnings += _without_class(correction, len(rows), portfolio)
            return
        own = _finite(float(getattr(portfolio.tranches, correction.figure)[rows[0]]))
        statements.of_classes.append((correction.figure, rows[0], correction.amount))
    statements.seen[_key(correction)] = correction.amount
    if own is not None and abs(own - correction.amount) <= (RATE_TOLERANCE if correction.figure in _RATES else CENT):
        return
    theirs = "the file has none" if own is None else f"{_show(correction.figure, own)} by the file"
    message = (
        f"{_named_figure(correction)} is {_show(correction.figure, correction.amount)} by a "
        f"correction of the definition, and {theirs}{_place(portfolio, _field(correction))}: {correction.note}"
    )
    statements.warnings.append(DataWarning("figure_corrected", message, fields=(_field(correction),)))


def _rows_of(notes: Tranches, name: str) -> list[int]:
    """Return the rows of a class: that of its very name, else those of its letter."""
    rows = [at for at, note_class in enumerate(notes.classes) if note_class == name]
    letter = letter_of(name) if len(name) == 1 else ""
    return rows or [at for at, note_class in enumerate(notes.classes) if letter and letter_of(note_class) == letter]


def _without_class(correction: Correction, count: int, portfolio: Portfolio) -> list[DataWarning]:
    """Return that the file has no such class, or several; once."""
    which = f"the file has {counted(count, 'class')} of this name" if count else "the file has no such class"
    message = f"the definition's correction of {_named_figure(correction)} is left out: {which}"
    warning = DataWarning("correction_left_out", message, fields=(_field(correction),))
    return [] if warning in portfolio.notes.warnings else [warning]


def _notes_with(notes: Tranches | None, figures: Sequence[tuple[str, int, float]]) -> Tranches | None:
    """Return the notes with figures of classes in place of their own."""
    changed: dict[str, NDArray[np.float64]] = {}
    for name, row, amount in figures:
        column = changed.setdefault(name, getattr(notes, name).copy())
        column[row] = amount
    return notes if notes is None or not changed else replace(notes, **changed)  # type: ignore[arg-type]


def _state(name: str, amount: float, portfolio: Portfolio, statements: _Statements) -> None:
    """Take an amount that the file does not print; warn of one printed otherwise."""
    statements.seen[name] = amount
    place, stated = (f"deal.{name}",), f"{FIGURES[name]} is {amount:,.2f} by the definition"
    own, own_name, words = _own(portfolio, name), name, FIGURES[name]
    if own is None and name == "interest_collected":
        own, own_name = _own(portfolio, "interest_available"), "interest_available"
        words = "the numerator of interest coverage"
    if own is None:
        statements.taken[name] = amount
        statements.warnings.append(DataWarning("amount_stated", f"{stated}: the file has none", fields=place))
    elif own_name != name or abs(own - amount) > CENT:
        theirs = f"{words} is {own:,.2f} by the file{_place(portfolio, f'deal.{own_name}')}, which counts"
        statements.warnings.append(DataWarning("amount_differs", f"{stated}, and {theirs}", fields=place))


# ---- levels of indexes


def _with_index_rates(portfolio: Portfolio, rates: Mapping[str, float]) -> Portfolio:
    """Return the portfolio with the stated level of each loan's index where the file has none, and with that of most
    loans' index as the deal's where the file has none."""
    index = portfolio.names.get("base_rate")
    indexes = [] if index is None else _indexes(index)
    named = {name: level for name in indexes if (level := level_of(name, rates)) is not None}
    main = indexes[0] if indexes else next(iter(rates)) if len(rates) == 1 else ""
    own, level = _own(portfolio, "base_rate"), named.get(main, rates.get(main))
    deal, warnings = portfolio.deal, list[DataWarning]()
    if own is None and level is not None:
        deal = replace(deal, base_rate=level)
    if own is not None and named.pop(main, None) is not None and level is not None:  # the file's own counts
        is_other = abs(level - own) > RATE_TOLERANCE and "base_rate" not in portfolio.notes.stated
        warnings += [_other_level(portfolio, main, level, own)] if is_other else []
    numbers, loans = portfolio.numbers, dict[str, int]()
    if index is not None and named:
        levels, loans = _fill(portfolio, index, named)
        numbers = numbers | {"base_rate_level": levels} if loans else numbers
    if loans or deal is not portfolio.deal:
        warnings.append(_stated_levels(loans, {main: level} | named if level is not None else named))
    if not warnings:
        return portfolio
    stated = portfolio.notes.stated | ({} if level is None else {"base_rate": level})
    notes = replace(portfolio.notes, warnings=[*portfolio.notes.warnings, *warnings], stated=stated)
    return replace(portfolio, deal=deal, numbers=numbers, notes=notes)


def _indexes(index: Names) -> list[str]:
    """Return the reference rates of loans, that of most loans first."""
    counts = np.bincount(index.codes[index.codes >= 0], minlength=len(index.values))
    order = np.argsort(-counts, kind="stable")
    return [index.values[code] for code in order.tolist() if counts[code] and index.values[code] != FIXED]


FIXED: Final = "FIXED"
"""What a column of reference rates says of fixed-rate loans."""


def level_of(index: str, rates: Mapping[str, float]) -> float | None:
    """Return the stated level of an index: of its tenor.

    Where either has none that of three months, or the only one.
    """
    name = index_name(index)
    if name in rates:
        return rates[name]
    family, _, tenor = name.partition("-")
    if tenor:
        return rates.get(family)
    if (usual := rates.get(family + _MAIN_TENOR)) is not None:
        return usual
    like = [level for index, level in rates.items() if index.partition("-")[0] == family]
    return like[0] if len(like) == 1 else None


def _fill(portfolio: Portfolio, index: Names, named: Mapping[str, float]) -> tuple[NDArray[np.float64], dict[str, int]]:
    """(level of each loan's index, loans that have the stated one by their index)."""
    table = np.full(len(index.values) + 1, np.nan)
    places = {name: at for at, name in enumerate(index.values) if name in named}
    table[list(places.values())] = [named[name] for name in places]
    stated = table[index.codes]
    levels = portfolio.numbers.get("base_rate_level")
    blank = np.ones(portfolio.row_count, np.bool_) if levels is None else ~np.isfinite(levels)
    takes = blank & ~np.isnan(stated)
    counts = np.bincount(index.codes[takes], minlength=len(index.values))
    filled = np.where(takes, stated, np.nan if levels is None else levels)
    return filled, {name: int(counts[at]) for name, at in places.items() if counts[at]}


def _stated_levels(loans: Mapping[str, int], levels: Mapping[str, float]) -> DataWarning:
    shown = ", ".join(f"{name} is {level:.6g} %" for name, level in levels.items())
    message = f"by the definition {shown}: the file gives no level of it"
    return DataWarning("index_rate_stated", message, sum(loans.values()) or None, ("base_rate_level",))


def _other_level(portfolio: Portfolio, index: str, level: float, own: float) -> DataWarning:
    message = (
        f"{index} is {level:.6g} % by the definition, and the base rate {own:.6g} % by the file"
        f"{_place(portfolio, 'deal.base_rate')}, which counts"
    )
    return DataWarning("index_rate_differs", message, fields=("deal.base_rate",))
