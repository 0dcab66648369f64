"""Identify loans: identifiers to their columns, lots to positions, names to keys."""

from __future__ import annotations

import unicodedata
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse, string_pool, text_cells
from core.portfolio.cells.loans import UNSAID, Loans, note_rows, take
from core.portfolio.cells.text.footnotes import NO_SUPERSCRIPTS
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model.fields import IDENTIFIERS, KEYS, Lien
from core.portfolio.model.notes import DataWarning
from core.words import agreed, counted

SUMMED: Final = ("par_value", "unfunded", "purchased_accrued_interest")
"""Numbers that lots of one position add up."""


WEIGHTED: Final = ("price", "purchase_price", "spread", "floor", "all_in_rate", "base_rate_level")
"""Numbers that lots of one position average by par; every other field comes from the lot with the largest par."""


_KIND_OF: Final = {"cusip": _parse.CUSIP, "loanx_id": _parse.LOANX, "isin": _parse.ISIN}


LETTERS_MAX: Final = 10_000
"""Characters whose plain form is remembered."""


def sort_identifiers(loans: Loans) -> None:
    """Give each identifier to its column, and blank what is none.

    A second time changes nothing.
    """
    _identifiers(loans)
    _placeholders(loans)
    put_second_liens(loans)


def positions(loans: Loans) -> None:
    """Add up lots: one row for each identifier."""
    sort_identifiers(loans)
    add_up_lots(loans)


def _identifiers(loans: Loans) -> None:
    """Give each identifier to the column of its kind.

    Trustees mix LoanX ids, ISINs and CUSIPs in one column.

    One that is printed in groups (12A456 7B 7, LX-123456) gets its standard form where the letters and digits are an
    identifier by check digit or shape; any other keeps its signs, which may tell it from another.
    Seven or eight digits in a CUSIP column get back the zeros that a spreadsheet took, where the check digit then fits
    half of such cells or more; a number in scientific notation is a destroyed identifier: blank, and counted.
    """
    moved: list[tuple[str, TextColumn]] = []
    destroyed = 0
    for target in KEYS:
        column = loans.texts.get(target)
        if column is None:
            continue
        column, kinds = _standard(column, cusip_first=target == "cusip")
        if (kinds == _parse.DESTROYED).any():
            lost = kinds[column.codes] == _parse.DESTROYED
            destroyed += note_rows(loans, "destroyed_identifiers", lost)
            column = TextColumn(np.where(lost, np.int32(-1), column.codes), column.text)
        if target == "cusip" and (kinds == _parse.SHORT_CUSIP).any():
            column = _pad(loans, column, kinds)
            kinds = _kinds(column, cusip_first=target == "cusip")
        for kind_target, kind in _KIND_OF.items():
            if kind_target != target and (kinds == kind).any() and not _by_chance(target, kinds[:-1], kind):
                leaves = kinds[column.codes] == kind
                moved.append((kind_target, TextColumn(np.where(leaves, column.codes, np.int32(-1)), column.text)))
                if target in IDENTIFIERS:
                    column = TextColumn(np.where(leaves, np.int32(-1), column.codes), column.text)
        loans.texts[target] = column
    for target, column in moved:
        own = loans.texts.get(target)
        loans.texts[target] = column if own is None else _fill(own, column)
    loans.notes.destroyed_identifiers += destroyed


def _by_chance(target: str, kinds: NDArray[np.uint8], kind: int) -> bool:
    """Return whether a column's CUSIPs may be own numbers that fit by chance.

    One in ten has the check digit of a CUSIP.
    """
    if target in IDENTIFIERS or kind != _parse.CUSIP:
        return False
    return bool(np.count_nonzero(kinds == _parse.OTHER) > np.count_nonzero(kinds == kind))


def _kinds(column: TextColumn, *, cusip_first: bool) -> NDArray[np.uint8]:
    """Return the kind of each string, and OTHER at the end for the code -1."""
    kinds = _parse.identifier_kinds(column.text.offsets, column.text.data, cusip_first)
    return np.concatenate((kinds, np.array([_parse.OTHER], np.uint8)))


def _standard(column: TextColumn, *, cusip_first: bool) -> tuple[TextColumn, NDArray[np.uint8]]:
    """Return the column with standard identifiers, and the kinds of its strings."""
    kinds = _kinds(column, cusip_first=cusip_first)
    odd_codes = np.flatnonzero(kinds[:-1] == _parse.OTHER)
    if not len(odd_codes):
        return column, kinds
    bare = text_cells.bare(
        text_cells.subset(TextColumn(odd_codes.astype(np.int32), column.text), np.arange(len(odd_codes))).text
    )
    bare_kinds = _parse.identifier_kinds(bare.offsets, bare.data, cusip_first)
    standard = np.flatnonzero((bare_kinds == _parse.CUSIP) | (bare_kinds == _parse.LOANX) | (bare_kinds == _parse.ISIN))
    if not len(standard):
        return column, kinds
    table = np.arange(-1, len(column.text), dtype=np.int32)
    table[odd_codes[standard] + 1] = standard + len(column.text)
    column = text_cells.merged_pool(table[column.codes + 1], column.text, bare)
    return column, _kinds(column, cusip_first=cusip_first)


def _pad(loans: Loans, column: TextColumn, kinds: NDArray[np.uint8]) -> TextColumn:
    """Return the column with leading zeros where these make CUSIPs, and say so.

    One number in ten has the check digit by chance: half of the short ones must have it.
    """
    short = np.flatnonzero(kinds[:-1] == _parse.SHORT_CUSIP)
    written, extra = text_cells.pool_of([column.text[code].rjust(CUSIP_LENGTH, "0") for code in short.tolist()])
    fits = _parse.identifier_kinds(extra.offsets, extra.data, True)[written] == _parse.CUSIP
    fits &= 2 * np.count_nonzero(fits) >= len(fits)
    _tell_of_zeros(loans, column, short[fits], short[~fits])
    table = np.arange(-1, len(column.text), dtype=np.int32)
    table[short[fits] + 1] = written[fits] + np.int32(len(column.text))
    return text_cells.merged_pool(table[column.codes + 1], column.text, extra)


CUSIP_LENGTH: Final = 9


def _tell_of_zeros(loans: Loans, column: TextColumn, repaired: NDArray[np.int64], others: NDArray[np.int64]) -> None:
    """Warn of CUSIPs that got their zeros back, and of those that stay short."""
    for codes, words in (
        (repaired, "lost leading zeros to a spreadsheet: the check digit proves them, and they are put back"),
        (others, "may have lost leading zeros to a spreadsheet: no check digit proves it, and they stay as they are"),
    ):
        if count := int(np.count_nonzero(np.isin(column.codes, codes))):
            message = f"{counted(count, 'CUSIP')} {words}."
            warning = DataWarning("leading_zeros", message, count, ("cusip",))
            if warning not in loans.notes.warnings:
                loans.notes.warnings.append(warning)


def _fill(own: TextColumn, other_text_column: TextColumn) -> TextColumn:
    """Return a column with its blanks filled from another one."""
    take = (own.codes < 0) & (other_text_column.codes >= 0)
    codes = np.where(take, other_text_column.codes + np.int32(len(own.text)), own.codes)
    return text_cells.merged_pool(codes, own.text, other_text_column.text)


def put_second_liens(loans: Loans) -> None:
    """Take second liens from a column of its own, beside one of seniority."""
    flags = loans.flags.pop("is_second_lien", None)
    if flags is not None:
        lien = np.full(loans.row_count, Lien.BLANK, np.uint8) if loans.lien is None else loans.lien
        unlike = (lien == Lien.FIRST_LIEN) | (lien == Lien.BLANK)
        loans.lien = np.where(unlike & (flags == 1), np.uint8(Lien.SECOND_LIEN), lien)


def _placeholders(loans: Loans) -> None:
    """Blank what stands for an unknown identifier ("PRIVATE", nine zeros).

    It has no identifier's shape, on loans of several borrowers. Whatever else comes again is a lot, an owner's own code
    too.
    """
    count = 0
    borrower: NDArray[np.int64] | None = None
    for target in KEYS:
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
        rows = np.flatnonzero(string_pool.spread_out(odd, False, column.codes) & (borrower >= 0))
        codes = column.codes[rows]
        low, high = np.full(len(odd), np.iinfo(np.int64).max), np.full(len(odd), -1, np.int64)
        np.minimum.at(low, codes, borrower[rows])
        np.maximum.at(high, codes, borrower[rows])
        several = string_pool.spread_out(low < high, False, column.codes)
        count += int(np.count_nonzero(several))
        loans.texts[target] = TextColumn(np.where(several, np.int32(-1), column.codes), column.text)
    loans.notes.placeholder_identifiers += count


def _borrower_codes(loans: Loans) -> NDArray[np.int64]:
    """Return a number for each row's borrower: by name, else issuer id; -1 for none."""
    borrower, issuer = loans.texts.get("borrower_name"), loans.texts.get("issuer_id")
    if borrower is not None:
        return name_keys(borrower).codes.astype(np.int64)
    return np.full(loans.row_count, -1, np.int64) if issuer is None else issuer.codes.astype(np.int64)


def _position_keys(loans: Loans) -> NDArray[np.int64] | None:
    """Return a number for each position: CUSIP, else LoanX id, else ISIN.

    -1 without any; None when no column has one.

    A row without a CUSIP whose LoanX id stands beside one CUSIP on other rows is a lot of that position.
    """
    keys: NDArray[np.int64] | None = None
    base = 0
    for target in IDENTIFIERS:
        column = loans.texts.get(target)
        if column is None:
            continue
        own = np.where(column.codes >= 0, column.codes + np.int64(base), np.int64(-1))
        keys = own if keys is None else np.where(keys >= 0, keys, _link_rows(keys, column, own))
        base += len(column.text)
    lots = _lots_by_asset_id(loans)
    if lots is not None:
        own = np.where(lots >= 0, lots + base, np.int64(-1))
        keys = own if keys is None else np.where(keys >= 0, keys, own)
    return keys


def _lots_by_asset_id(loans: Loans) -> NDArray[np.int64] | None:
    """Return own ids of rows alike in borrower, facility and maturity; else -1."""
    column, borrower = loans.texts.get("asset_id"), loans.texts.get("borrower_name")
    if column is None or borrower is None or len(column.text) >= np.count_nonzero(column.codes >= 0):
        return None
    columns = [name_keys(borrower).codes.astype(np.float64)]
    if "facility_name" in loans.texts:
        columns.append(loans.texts["facility_name"].codes.astype(np.float64))
    if "maturity_date" in loans.numbers:
        columns.append(loans.numbers["maturity_date"])
    rows = np.flatnonzero(column.codes >= 0)
    groups = column.codes[rows].astype(np.intp)
    unlike = np.zeros(len(column.text) + 1, np.bool_)
    for values in columns:
        unlike[:-1] |= _differ(values[rows], groups, len(column.text))
    return np.where((column.codes >= 0) & ~unlike[column.codes], column.codes, -1).astype(np.int64)


def _link_rows(keys: NDArray[np.int64], column: TextColumn, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each row's own key, or the one key that its string has on other rows."""
    both = (keys >= 0) & (column.codes >= 0)
    codes, known = column.codes[both], keys[both]
    key_of = np.full(len(column.text) + 1, -1, np.int64)
    key_of[codes] = known
    key_of[codes[key_of[codes] != known]] = -1
    linked = key_of[column.codes]
    return np.where((linked >= 0) & (column.codes >= 0), linked, own)


def add_up_lots(loans: Loans) -> None:
    """Add up the rows of one identifier into the first of them."""
    keys = _position_keys(loans)
    if keys is not None and loans.row_count > 1:
        add_up(loans, keys)


def add_up(loans: Loans, keys: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Add up the rows of one key into the first of them.

    Args:
        keys: one for each row, from 0; -1 for a row of its own.

    Returns:
        The place of each row from before; None where every row is of its own.
    """
    count = np.bincount(keys + 1)
    count[0] = 0
    if count.max() < 2:
        return None
    members = np.flatnonzero(count[keys + 1] > 1)
    _, first, group = np.unique(keys[members], return_index=True, return_inverse=True)
    par = loans.numbers.get("par_value")
    weight = np.zeros(len(members)) if par is None else np.nan_to_num(par[members])
    order = np.lexsort((members, -weight, group))
    leads = members[order[np.searchsorted(group[order], np.arange(len(first)))]]
    rows = np.ones(loans.row_count, np.int32) if loans.lots is None else loans.lots
    differing = np.zeros(loans.row_count, np.bool_) if loans.conflicting is None else loans.conflicting
    summed_rows = np.bincount(group, rows[members]).astype(np.int32)
    conflicts = _conflicts(loans, members, group, len(first)) | (np.bincount(group, differing[members]) > 0)
    # Every row but the later lots stays, and shows the position's largest lot.
    keep = np.ones(loans.row_count, np.bool_)
    keep[members] = False
    keep[members[first]] = True
    source = np.arange(loans.row_count)
    source[members[first]] = leads
    source = source[keep]
    places = np.cumsum(keep) - 1
    place = places[members[first]]
    sums = {name: _sum(loans.numbers[name][members], group) for name in SUMMED if name in loans.numbers}
    means = {name: _mean(loans.numbers[name][members], weight, group) for name in WEIGHTED if name in loans.numbers}
    _warn_of_weights(loans, members, group, len(first))
    raised = {name: _any_lot(flags[members], group) for name, flags in loans.flags.items()}
    take(loans, source)
    for summed, total in sums.items():
        loans.numbers[summed][place] = total
    for weighted, mean in means.items():
        loans.numbers[weighted][place] = np.where(np.isnan(mean), loans.numbers[weighted][place], mean)
    for flag, any_lot in raised.items():
        loans.flags[flag][place] = any_lot
    loans.lots, loans.conflicting = rows[source], differing[source]
    loans.lots[place], loans.conflicting[place] = summed_rows, conflicts
    loans.notes.lots = int(loans.lots[loans.lots > 1].sum())
    loans.notes.conflicting_lots = note_rows(loans, "conflicting_lots", loans.conflicting)
    places[members] = place[group]
    return places


def _warn_of_weights(loans: Loans, members: NDArray[np.intp], group: NDArray[np.intp], groups: int) -> None:
    """Warn of positions whose lots have different rates or prices, and no par."""
    par = loans.numbers.get("par_value")
    if par is not None and np.nansum(np.abs(par[members])) > 0:
        return
    differing = {
        name: _differ(loans.numbers[name][members], group, groups) for name in WEIGHTED if name in loans.numbers
    }
    fields = tuple(name for name, differ in differing.items() if differ.any())
    if not fields:
        return
    count = int(np.count_nonzero(np.any([differing[name] for name in fields], axis=0)))
    message = (
        f"{counted(count, 'position')} of sheet {loans.sheet_name!r} {agreed(count, 'has/have')} lots that differ in "
        f"{', '.join(fields)}, and no par says how much each counts: the first lot counts."
    )
    loans.notes.warnings.append(DataWarning("conflicting_lots", message, count, fields))


def _differ(values: NDArray[np.float64], group: NDArray[np.intp], groups: int) -> NDArray[np.bool_]:
    """Return groups with different values; blanks are none."""
    known = ~np.isnan(values)
    low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
    np.minimum.at(low, group[known], values[known])
    np.maximum.at(high, group[known], values[known])
    return np.asarray(low < high, np.bool_)


def _any_lot(flags: NDArray[np.uint8], group: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return 1 for groups where a lot says yes, else 0 where one says no."""
    says_yes, says_no = (np.bincount(group, flags == flag) > 0 for flag in (1, 0))
    return np.where(says_yes, np.uint8(1), np.where(says_no, np.uint8(0), np.uint8(UNSAID)))


def _sum(values: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return sums by group; NaN where every value is blank."""
    known = ~np.isnan(values)
    sums = np.bincount(group, np.where(known, values, 0.0))
    return np.where(np.bincount(group, known) > 0, sums, np.nan)


def _mean(values: NDArray[np.float64], weight: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return weighted means over the values that are there; NaN without weight."""
    known = ~np.isnan(values)
    total = np.bincount(group, np.where(known, weight, 0.0))
    summed = np.bincount(group, np.where(known, weight * values, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, summed / total, np.nan)


def _conflicts(loans: Loans, members: NDArray[np.intp], group: NDArray[np.intp], groups: int) -> NDArray[np.bool_]:
    """Return which positions' lots differ in a rating or in the maturity."""
    differs = np.zeros(groups, np.bool_)
    columns = [ranks[members].astype(np.float64) for ranks in loans.ranks.values()]
    if "maturity_date" in loans.numbers:
        columns.append(loans.numbers["maturity_date"][members])
    for values in columns:
        differs |= _differ(values, group, groups)
    return differs


def name_keys(column: TextColumn) -> TextColumn:
    """Return names without case, accents, signs, brackets and legal forms."""
    text, codes = column.text, column.codes
    high = np.flatnonzero(text.data >= 0x80)
    if len(high):
        spelt = np.unique(np.searchsorted(text.offsets, high, side="right") - 1)
        written, extra = text_cells.pool_of([_plain_letters(text[code]) for code in spelt.tolist()])
        table = np.arange(-1, len(text), dtype=np.int32)
        table[spelt + 1] = written + np.int32(len(text))
        joined = text_cells.merged_pool(table[codes + 1], text, extra)
        text, codes = joined.text, joined.codes
    keys, offsets, data = _parse.name_keys(text.offsets, text.data)
    return TextColumn(string_pool.spread_out(keys, -1, codes), Text(offsets, data))


class _Letters(dict[int, str]):
    """What stands for each character of a name, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        sign = chr(code).translate(NO_SUPERSCRIPTS)
        signs = [sign for sign in unicodedata.normalize("NFKD", sign) if not unicodedata.combining(sign)]
        plain = "".join(sign if sign.isascii() or sign.isalnum() else " " for sign in signs).upper()
        if len(self) < LETTERS_MAX:
            self[code] = plain
        return plain


_LETTERS: Final = _Letters()


def _plain_letters(name: str) -> str:
    """Return a name in upper case without accents, other signs as spaces."""
    letters = name.upper().translate(_LETTERS)
    return letters if letters.strip() else name
