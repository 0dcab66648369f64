"""Loans as read to a portfolio: identifiers to their own columns, lots to positions, names to obligors."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio import ratings
from core.portfolio.cells import _parse, parsing
from core.portfolio.cells.parsing import Scalar, TextColumn, spread_out
from core.portfolio.cells.typed import NormalColumn
from core.portfolio.facts import Facts
from core.portfolio.fields import IDENTIFIERS, STANDARD_TARGETS, Lien
from core.portfolio.notes import DataWarning, Notes
from core.portfolio.portfolio import Amortization, Deal, Names, Portfolio, Strings, Tranches, defaulted
from core.words import agreed, counted

SUMMED: Final = ("par_value", "unfunded", "purchased_accrued_interest")
"""Numbers that lots of one position add up."""

WEIGHTED: Final = ("price", "purchase_price", "spread", "floor", "all_in_rate", "base_rate_level")
"""Numbers that lots of one position average by par; every other field comes from the lot with the largest par."""

_KIND_OF: Final = {"cusip": _parse.CUSIP, "loanx_id": _parse.LOANX, "isin": _parse.ISIN}


LETTERS_MAX: Final = 10_000
"""Characters whose plain form is remembered."""

UNSAID: Final = 2
"""A flag whose cell is blank, until the portfolio is made: another page may say it, and else it is no."""

SLACK_MAX: Final = 2
"""How many times its own size a portfolio's column may keep alive in memory."""


@dataclass
class Loans:
    """The rows of a source under standard names, in the fields' units, before lots are added up."""

    row_count: int
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    texts: dict[str, TextColumn] = field(default_factory=dict)
    categories: dict[str, tuple[NDArray[np.int32], tuple[str, ...]]] = field(default_factory=dict)
    """Text columns that already have canonical names."""
    flags: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    """0, 1, or `UNSAID`."""
    ranks: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    lien: NDArray[np.uint8] | None = None
    coupon_fixed: NDArray[np.int8] | None = None
    """1 fixed, 0 floating, -1 where the coupon type does not say; None without the column."""
    tranches: Tranches | None = None
    facts: Facts = field(default_factory=Facts)
    deal: Deal = field(default_factory=Deal)
    sheet_name: str = "Holdings"
    notes: Notes = field(default_factory=Notes)
    source_cells: dict[str, str] = field(default_factory=dict)
    lots: NDArray[np.int32] | None = None
    conflicting: NDArray[np.bool_] | None = None
    own_dates: set[str] = field(default_factory=set)
    """Numbers of a mapping's own fields that are days."""
    ruled: dict[str, NormalColumn] = field(default_factory=dict)
    """Columns as they were typed, of fields that a mapping's rules or defaults are about."""


_TEXTS: Final = frozenset(
    (*IDENTIFIERS, "borrower_name", "issuer_id", "facility_name", "industry", "country", "currency",
     "payment_frequency")
)  # fmt: skip
"""Fields that are text whatever type a mapping of one's own gives them."""


def put(loans: Loans, target: str, column: NormalColumn) -> int:
    """Give the loans a typed column; of ratings, liens, coupon types and indexes what their words mean.

    Returns:
        Rows of a rating whose word means nothing.
    """
    if target in ratings.AGENCY_OF:
        return _put_rating(loans, target, column.as_text())
    if target == "lien_type":
        text = column.as_text()
        liens = np.array([parsing.lien(one) for one in text.text.strings()], np.uint8)
        loans.lien = spread_out(liens, Lien.BLANK, text.codes)
        loans.notes.lien_blank_rows = int(np.count_nonzero(loans.lien == Lien.BLANK))
        loans.notes.lien_unrecognised_rows = int(np.count_nonzero(loans.lien == Lien.OTHER))
    elif target == "coupon_type":
        text = column.as_text()
        said = np.array([parsing.coupon_is_fixed(one) for one in text.text.strings()], np.int8)
        loans.coupon_fixed = spread_out(said, -1, text.codes)
    elif target == "base_rate":
        text = column.as_text()
        loans.categories[target] = parsing.categories(text, [parsing.base_rate(one) for one in text.text.strings()])
    elif target == "as_of" and column.type == "date":
        loans.notes.as_of_column = float(np.nanmax(column.values)) if not column.blank().all() else None
    elif column.type == "string" or target in _TEXTS:
        loans.texts[target] = parsing.upper(column.as_text()) if target in IDENTIFIERS else column.as_text()
    elif column.type == "boolean":
        loans.flags[target] = np.where(column.blank(), np.uint8(UNSAID), column.values != 0).astype(np.uint8)
    else:
        loans.numbers[target] = column.values
        if column.type == "date" and target not in STANDARD_TARGETS:
            loans.own_dates.add(target)
    return 0


def _put_rating(loans: Loans, target: str, text: TextColumn) -> int:
    strings = text.text.strings()
    ranks = [ratings.rank(one, ratings.AGENCY_OF[target]) for one in strings]
    loans.texts[target] = text
    loans.ranks[target] = spread_out(np.array(ranks, np.uint8), 0, text.codes)
    odd = [not rank and not ratings.is_not_rated(one) for rank, one in zip(ranks, strings, strict=True)]
    if not any(odd):
        return 0
    counts = np.bincount(text.codes + 1, minlength=len(strings) + 1)[1:].tolist()
    if masks := ratings.masks_of(strings, counts, ranks):
        _mask(loans, target, masks, counts)
    return sum(counts[at] for at, is_odd in enumerate(odd) if is_odd and at not in masks)


def _mask(loans: Loans, target: str, masks: list[int], counts: list[int]) -> None:
    """Read a column's own words for a masked rating, by their codes, as masks, and tell of them."""
    text = loans.texts[target]
    strings = text.text.strings()
    for at in masks:
        count = counts[at]
        message = (
            f"{strings[at]!r} stands for {target} on {counted(count, 'row')} and is no rating: "
            f"{agreed(count, 'it counts/they count')} as masked."
        )
        loans.notes.warnings.append(DataWarning("masked_word", message, count, (target,)))
        strings[at] = ratings.MASK
    codes, pool = parsing.pool_of(strings)
    loans.texts[target] = TextColumn(spread_out(codes, -1, text.codes), pool)


def assemble(loans: Loans, amortization: Callable[[dict[str, Names]], Amortization | None] | None = None) -> Portfolio:
    """The portfolio of some loans; `amortization` finds the payment schedule by the identifiers of its rows."""
    identified(loans)
    loans.flags = {name: flags & np.uint8(1) for name, flags in loans.flags.items()}
    _unpriced(loans)
    par = loans.numbers.get("par_value")
    loans.notes.negative_par_rows = 0 if par is None else int(np.count_nonzero(par < 0))
    _lots(loans)
    names = {target: Names(column.codes, Strings(column.text)) for target, column in loans.texts.items()}
    names |= {target: Names(codes, values) for target, (codes, values) in loans.categories.items()}
    for target, meaning in (("industry", parsing.industries), ("country", _countries), ("currency", _currencies)):
        column = loans.texts.get(target)
        if column is not None:
            names[target] = Names(*parsing.categories(column, meaning(column.text.strings())))
    obligor = _obligor(loans.texts.get("issuer_id"), loans.texts.get("borrower_name"))
    if obligor is not None:
        names["obligor"] = obligor
        loans.notes.rows_without_obligor = int(np.count_nonzero(obligor.codes < 0))
    _fixed(loans, names.get("base_rate"))
    return Portfolio(
        row_count=loans.row_count,
        numbers={name: _own(values) for name, values in loans.numbers.items()},
        names={name: Names(_own(column.codes), column.values) for name, column in names.items()},
        flags={name: _own(flags) for name, flags in loans.flags.items()},
        ranks={name: _own(ranks) for name, ranks in loans.ranks.items()},
        lien=None if loans.lien is None else _own(loans.lien),
        tranches=loans.tranches,
        deal=loans.deal,
        amortization=amortization(names) if amortization is not None else None,
        sheet_name=loans.sheet_name,
        notes=loans.notes,
        source_cells=loans.source_cells,
        lots=loans.lots,
        conflicting=loans.conflicting,
        facts=loans.facts,
        own_dates=frozenset(loans.own_dates),
    )


def identified(loans: Loans) -> None:
    """Give each identifier to its column, and blank what is none; a second time changes nothing."""
    _identifiers(loans)
    _placeholders(loans)
    _second_liens(loans)


def positions(loans: Loans) -> None:
    """One row for each identifier: lots are added up."""
    identified(loans)
    _lots(loans)


def _own(column: NDArray[Scalar]) -> NDArray[Scalar]:
    """The column, copied where it is a piece of a much larger one in memory; a piece of a mapped file stays one."""
    owner: NDArray[Any] = column
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return column.copy() if owner.base is None and owner.nbytes > SLACK_MAX * column.nbytes else column


def _countries(texts: list[str]) -> list[str]:
    return [parsing.country(text) for text in texts]


def _currencies(texts: list[str]) -> list[str]:
    return [parsing.currency(text) for text in texts]


# ---- identifiers ---------------------------------------------------------------------------------------------------


def _identifiers(loans: Loans) -> None:
    """Give each identifier to the column of its kind: trustees mix LoanX ids, ISINs and CUSIPs in one column.

    One that is printed in groups (12A456 7B 7, LX-123456) gets its standard form where the letters and digits are an
    identifier by check digit or shape; any other keeps its signs, which may tell it from another.
    Eight digits in a CUSIP column get back the zero that a spreadsheet took, when the check digit then fits; a number
    in scientific notation is a destroyed identifier: blank, and counted.
    """
    moved: list[tuple[str, TextColumn]] = []
    destroyed = 0
    for target in IDENTIFIERS:
        column = loans.texts.get(target)
        if column is None:
            continue
        column, kinds = _standard(column, cusip_first=target == "cusip")
        if (kinds == _parse.DESTROYED).any():
            lost = kinds[column.codes] == _parse.DESTROYED
            destroyed += int(np.count_nonzero(lost))
            column = TextColumn(np.where(lost, np.int32(-1), column.codes), column.text)
        if target == "cusip" and (kinds == _parse.SHORT_CUSIP).any():
            column = _padded(column, kinds)
            kinds = _kinds(column, cusip_first=target == "cusip")
        for other, kind in _KIND_OF.items():
            if other != target and (kinds == kind).any():
                leaves = kinds[column.codes] == kind
                moved.append((other, TextColumn(np.where(leaves, column.codes, np.int32(-1)), column.text)))
                column = TextColumn(np.where(leaves, np.int32(-1), column.codes), column.text)
        loans.texts[target] = column
    for target, column in moved:
        own = loans.texts.get(target)
        loans.texts[target] = column if own is None else _filled(own, column)
    loans.notes.destroyed_identifiers += destroyed


def _kinds(column: TextColumn, *, cusip_first: bool) -> NDArray[np.uint8]:
    """The kind of each string, and OTHER at the end for the code -1."""
    kinds = _parse.identifier_kinds(column.text.offsets, column.text.data, cusip_first)
    return np.concatenate((kinds, np.array([_parse.OTHER], np.uint8)))


def _standard(column: TextColumn, *, cusip_first: bool) -> tuple[TextColumn, NDArray[np.uint8]]:
    """The column with identifiers in their standard form, and the kinds of its strings as `_kinds` gives them."""
    kinds = _kinds(column, cusip_first=cusip_first)
    other = np.flatnonzero(kinds[:-1] == _parse.OTHER)
    if not len(other):
        return column, kinds
    bare = parsing.bare(parsing.subset(TextColumn(other.astype(np.int32), column.text), np.arange(len(other))).text)
    found = _parse.identifier_kinds(bare.offsets, bare.data, cusip_first)
    standard = np.flatnonzero((found == _parse.CUSIP) | (found == _parse.LOANX) | (found == _parse.ISIN))
    if not len(standard):
        return column, kinds
    table = np.arange(-1, len(column.text), dtype=np.int32)
    table[other[standard] + 1] = standard + len(column.text)
    column = parsing.merged_pool(table[column.codes + 1], column.text, bare)
    return column, _kinds(column, cusip_first=cusip_first)


def _padded(column: TextColumn, kinds: NDArray[np.uint8]) -> TextColumn:
    """Eight-digit strings with a zero before them where that makes a CUSIP."""
    short = np.flatnonzero(kinds[:-1] == _parse.SHORT_CUSIP)
    written, extra = parsing.pool_of(["0" + column.text[code] for code in short.tolist()])
    fits = _parse.identifier_kinds(extra.offsets, extra.data, True)[written] == _parse.CUSIP
    table = np.arange(-1, len(column.text), dtype=np.int32)
    table[short[fits] + 1] = written[fits] + np.int32(len(column.text))
    return parsing.merged_pool(table[column.codes + 1], column.text, extra)


def _filled(own: TextColumn, other: TextColumn) -> TextColumn:
    """A column with its blanks filled from another one."""
    take = (own.codes < 0) & (other.codes >= 0)
    codes = np.where(take, other.codes + np.int32(len(own.text)), own.codes)
    return parsing.merged_pool(codes, own.text, other.text)


def _second_liens(loans: Loans) -> None:
    """A second lien by a column of its own, beside one that says how senior the loan is or that it is secured."""
    flags = loans.flags.pop("is_second_lien", None)
    if flags is not None:
        lien = np.full(loans.row_count, Lien.BLANK, np.uint8) if loans.lien is None else loans.lien
        unlike = (lien == Lien.FIRST_LIEN) | (lien == Lien.BLANK)
        loans.lien = np.where(unlike & (flags == 1), np.uint8(Lien.SECOND_LIEN), lien)


def _placeholders(loans: Loans) -> None:
    """Blank what stands for an unknown identifier ("PRIVATE", nine zeros): of no identifier's shape, on loans of
    several borrowers. Whatever else comes again is a lot, an owner's own code too.
    """
    count = 0
    borrower: NDArray[np.int64] | None = None
    for target in IDENTIFIERS:
        column = loans.texts.get(target)
        if column is None or not len(column.text):
            continue
        odd = np.bincount(column.codes + 1, minlength=len(column.text) + 1)[1:] > 1
        if not odd.any():
            continue
        kinds = _kinds(column, cusip_first=target == "cusip")[:-1]
        odd &= (kinds == _parse.OTHER) | (kinds == _parse.SHORT_CUSIP)
        if not odd.any():
            continue
        borrower = _borrower_codes(loans) if borrower is None else borrower
        rows = np.flatnonzero(parsing.spread_out(odd, False, column.codes) & (borrower >= 0))
        codes = column.codes[rows]
        low, high = np.full(len(odd), np.iinfo(np.int64).max), np.full(len(odd), -1, np.int64)
        np.minimum.at(low, codes, borrower[rows])
        np.maximum.at(high, codes, borrower[rows])
        several = parsing.spread_out(low < high, False, column.codes)
        count += int(np.count_nonzero(several))
        loans.texts[target] = TextColumn(np.where(several, np.int32(-1), column.codes), column.text)
    loans.notes.placeholder_identifiers += count


def _borrower_codes(loans: Loans) -> NDArray[np.int64]:
    """A number for each row's borrower: by name, else by issuer id; -1 without either."""
    borrower, issuer = loans.texts.get("borrower_name"), loans.texts.get("issuer_id")
    if borrower is not None:
        return name_keys(borrower).codes.astype(np.int64)
    return np.full(loans.row_count, -1, np.int64) if issuer is None else issuer.codes.astype(np.int64)


# ---- lots ----------------------------------------------------------------------------------------------------------


def _position_keys(loans: Loans) -> NDArray[np.int64] | None:
    """A number for each position: its CUSIP, else LoanX id, else ISIN; -1 without any; None when no column has one.

    A row without a CUSIP whose LoanX id stands beside one CUSIP on other rows is a lot of that position.
    """
    keys: NDArray[np.int64] | None = None
    base = 0
    for target in IDENTIFIERS:
        column = loans.texts.get(target)
        if column is None:
            continue
        own = np.where(column.codes >= 0, column.codes + np.int64(base), np.int64(-1))
        keys = own if keys is None else np.where(keys >= 0, keys, _linked(keys, column, own))
        base += len(column.text)
    return keys


def _linked(keys: NDArray[np.int64], column: TextColumn, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each row's own key, or the one key that its string has on other rows."""
    both = (keys >= 0) & (column.codes >= 0)
    codes, known = column.codes[both], keys[both]
    key_of = np.full(len(column.text) + 1, -1, np.int64)
    key_of[codes] = known
    key_of[codes[key_of[codes] != known]] = -1
    linked = key_of[column.codes]
    return np.where((linked >= 0) & (column.codes >= 0), linked, own)


def _lots(loans: Loans) -> None:
    """Add up the rows of one identifier into the first of them."""
    keys = _position_keys(loans)
    if keys is None or loans.row_count < 2:
        return
    count = np.bincount(keys + 1)
    count[0] = 0
    if count.max() < 2:
        return
    members = np.flatnonzero(count[keys + 1] > 1)
    _, first, group = np.unique(keys[members], return_index=True, return_inverse=True)
    par = loans.numbers.get("par_value")
    weight = np.zeros(len(members)) if par is None else np.nan_to_num(par[members])
    order = np.lexsort((members, -weight, group))
    leads = members[order[np.searchsorted(group[order], np.arange(len(first)))]]
    loans.notes.lots = len(members)
    conflicts = _conflicts(loans, members, group, len(first))
    loans.notes.conflicting_lots = int(np.count_nonzero(conflicts))
    # Every row but the later lots stays, and shows the position's largest lot.
    keep = np.ones(loans.row_count, np.bool_)
    keep[members] = False
    keep[members[first]] = True
    source = np.arange(loans.row_count)
    source[members[first]] = leads
    source = source[keep]
    place = (np.cumsum(keep) - 1)[members[first]]
    sums = {name: _sum(loans.numbers[name][members], group) for name in SUMMED if name in loans.numbers}
    means = {name: _mean(loans.numbers[name][members], weight, group) for name in WEIGHTED if name in loans.numbers}
    raised = {name: _any_lot(flags[members], group) for name, flags in loans.flags.items()}
    take(loans, source)
    for summed, total in sums.items():
        loans.numbers[summed][place] = total
    for weighted, mean in means.items():
        loans.numbers[weighted][place] = np.where(np.isnan(mean), loans.numbers[weighted][place], mean)
    for flag, any_lot in raised.items():
        loans.flags[flag][place] = any_lot
    loans.lots = np.ones(loans.row_count, np.int32)
    loans.lots[place] = np.bincount(group)
    loans.conflicting = np.zeros(loans.row_count, np.bool_)
    loans.conflicting[place] = conflicts


def _any_lot(flags: NDArray[np.uint8], group: NDArray[np.intp]) -> NDArray[np.uint8]:
    """By group 1 where a lot says yes, else 0 where one says no."""
    says_yes, says_no = (np.bincount(group, flags == said) > 0 for said in (1, 0))
    return np.where(says_yes, np.uint8(1), np.where(says_no, np.uint8(0), np.uint8(UNSAID)))


def _sum(values: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Sums by group; NaN where every value is blank."""
    known = ~np.isnan(values)
    sums = np.bincount(group, np.where(known, values, 0.0))
    return np.where(np.bincount(group, known) > 0, sums, np.nan)


def _mean(values: NDArray[np.float64], weight: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Means by weight over the values that are there; NaN where their weight is not positive."""
    known = ~np.isnan(values)
    total = np.bincount(group, np.where(known, weight, 0.0))
    summed = np.bincount(group, np.where(known, weight * values, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, summed / total, np.nan)


def _conflicts(loans: Loans, members: NDArray[np.intp], group: NDArray[np.intp], groups: int) -> NDArray[np.bool_]:
    """Which positions' lots differ in a rating or in the maturity."""
    differs = np.zeros(groups, np.bool_)
    columns = [ranks[members].astype(np.float64) for ranks in loans.ranks.values()]
    if "maturity_date" in loans.numbers:
        columns.append(loans.numbers["maturity_date"][members])
    for values in columns:
        known = ~np.isnan(values)
        low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
        np.minimum.at(low, group[known], values[known])
        np.maximum.at(high, group[known], values[known])
        differs |= low < high
    return differs


def take(loans: Loans, rows: NDArray[np.intp]) -> None:
    """Replace every column by these rows of it; the texts of the others go where these are many."""
    few = len(rows) * SLACK_MAX < loans.row_count
    loans.row_count = len(rows)
    loans.numbers = {name: values[rows] for name, values in loans.numbers.items()}
    loans.texts = {
        name: parsing.subset(column, rows) if few else TextColumn(column.codes[rows], column.text)
        for name, column in loans.texts.items()
    }
    loans.categories = {name: (codes[rows], values) for name, (codes, values) in loans.categories.items()}
    loans.flags = {name: flags[rows] for name, flags in loans.flags.items()}
    loans.ranks = {name: ranks[rows] for name, ranks in loans.ranks.items()}
    loans.lien = None if loans.lien is None else loans.lien[rows]
    loans.coupon_fixed = None if loans.coupon_fixed is None else loans.coupon_fixed[rows]
    loans.ruled = {name: column.take(rows) for name, column in loans.ruled.items()}


# ---- obligors ------------------------------------------------------------------------------------------------------


def name_keys(column: TextColumn) -> TextColumn:
    """The names of a column without what does not tell companies apart: case, accents, signs, brackets, legal forms."""
    text, codes = column.text, column.codes
    high = np.flatnonzero(text.data >= 0x80)
    if len(high):
        spelt = np.unique(np.searchsorted(text.offsets, high, side="right") - 1)
        written, extra = parsing.pool_of([_plain_letters(text[code]) for code in spelt.tolist()])
        table = np.arange(-1, len(text), dtype=np.int32)
        table[spelt + 1] = written + np.int32(len(text))
        joined = parsing.merged_pool(table[codes + 1], text, extra)
        text, codes = joined.text, joined.codes
    keys, offsets, data = _parse.name_keys(text.offsets, text.data)
    return TextColumn(parsing.spread_out(keys, -1, codes), Text(offsets, data))


class _Letters(dict[int, str]):
    """What stands for each character of a name, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        signs = [sign for sign in unicodedata.normalize("NFKD", chr(code)) if not unicodedata.combining(sign)]
        plain = "".join(sign if sign.isascii() or sign.isalnum() else " " for sign in signs).upper()
        if len(self) < LETTERS_MAX:
            self[code] = plain
        return plain


_LETTERS: Final = _Letters()


def _plain_letters(name: str) -> str:
    """The name in upper case without accents, other signs beyond ASCII as spaces."""
    letters = name.upper().translate(_LETTERS)
    return letters if letters.strip() else name


def _obligor(issuer: TextColumn | None, borrower: TextColumn | None) -> Names | None:
    """The key of the obligor tests: the issuer's id, else the id of the same name elsewhere, else the name's key."""
    if borrower is None:
        return None if issuer is None else Names(issuer.codes, Strings(issuer.text))
    if issuer is None:
        column = name_keys(borrower)
        return Names(column.codes, Strings(column.text))
    without = issuer.codes < 0
    if not without.any():
        return Names(issuer.codes, Strings(issuer.text))
    named = name_keys(borrower)
    codes = _ids_by_name(issuer.codes, named)
    codes = np.where((codes < 0) & (named.codes >= 0), named.codes + np.int32(len(issuer.text)), codes)
    column = parsing.merged_pool(codes, issuer.text, named.text)
    return Names(column.codes, Strings(column.text))


def _ids_by_name(codes: NDArray[np.int32], named: TextColumn) -> NDArray[np.int32]:
    """Issuer codes with blanks filled from the rows of the same name, where those agree on one id."""
    both = (codes >= 0) & (named.codes >= 0)
    low = np.full(len(named.text) + 1, np.iinfo(np.int32).max, np.int32)
    high = np.full(len(named.text) + 1, -1, np.int32)
    np.minimum.at(low, named.codes[both], codes[both])
    np.maximum.at(high, named.codes[both], codes[both])
    agreed = np.where(low == high, high, np.int32(-1))
    agreed[-1] = -1
    return np.where(codes >= 0, codes, agreed[named.codes])


# ---- what follows from several columns -----------------------------------------------------------------------------


def _fixed(loans: Loans, index: Names | None) -> None:
    """is_fixed from the coupon type, else a base rate "Fixed", else a coupon without spread and index.

    Left out when no column can tell: neither coupon type nor index, and not both spread and all-in rate.
    """
    spread, coupon = loans.numbers.get("spread"), loans.numbers.get("all_in_rate")
    said = loans.coupon_fixed
    # A column without a value says nothing of any loan.
    spread = None if spread is not None and np.isnan(spread).all() else spread
    index = None if index is not None and not (index.codes >= 0).any() else index
    said = None if said is not None and not (said >= 0).any() else said
    if said is None and index is None and (spread is None or coupon is None):
        return
    blank = np.ones(loans.row_count, np.bool_)
    fixed = np.zeros(loans.row_count, np.bool_)
    if index is not None:
        is_fixed = np.array([value == "FIXED" for value in index.values] + [False], np.bool_)
        fixed |= is_fixed[index.codes]
    if coupon is not None and (spread is not None or index is not None):
        no_spread = blank if spread is None else np.isnan(spread)
        no_index = blank if index is None else index.codes < 0
        fixed |= no_spread & no_index & ~np.isnan(coupon)
    if said is not None:
        fixed = np.where(said >= 0, said == 1, fixed)
    loans.flags["is_fixed"] = fixed.astype(np.uint8)


def _unpriced(loans: Loans) -> None:
    """A price of 0 on a performing loan says that there is none; nothing is bought for 0 either. Before lots are added
    up, whose mean a 0 would lower."""
    bought = loans.numbers.get("purchase_price")
    if bought is not None and (bought == 0).any():
        loans.notes.zero_purchase_prices = int(np.count_nonzero(bought == 0))
        loans.numbers["purchase_price"] = np.where(bought == 0, np.nan, bought)
    price = loans.numbers.get("price")
    if price is None:
        return
    zero = price == 0
    if not zero.any():
        return
    zero &= ~defaulted(loans.row_count, loans.numbers, loans.flags, loans.ranks, loans.deal.as_of)
    loans.numbers["price"] = np.where(zero, np.nan, price)
    loans.notes.zero_prices = int(np.count_nonzero(zero))
