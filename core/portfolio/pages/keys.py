"""Keys that loans and page rows share: identifiers, names, cut names, words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Dict
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse, text_cells
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.string_pool import key, spread_out
from core.portfolio.cells.text.footnotes import without_marks
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model.fields import KEYS
from core.portfolio.pages.identify import name_keys

CUT_LEAST: Final = 18
"""Letters and digits of a name that is taken for the start of a longer one."""

CUT_NAMES_MAX: Final = 20_000
"""Names of a page without their like among the loans up to which longer ones are looked for."""

Pair = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The key of each loan and of each row of a page; -1 without one."""


def together(columns: Sequence[TextColumn]) -> tuple[list[NDArray[np.int32]], Text]:
    """Return the codes of some columns into one pool, in which equal strings are one."""
    offsets, data, codes = [np.zeros(1, np.int64)], [], []
    count, size = 0, 0
    for column in columns:
        text = column.text
        codes.append(np.where(column.codes >= 0, column.codes + np.int32(count), np.int32(-1)))
        offsets.append(text.offsets[1:] - text.offsets[0] + size)
        data.append(text.data[text.offsets[0] : text.offsets[-1]])
        count += len(text)
        size += int(text.offsets[-1] - text.offsets[0])
    local, used = _parse.distinct(np.concatenate(codes), count)
    table, ends, signs = _parse.clean(np.concatenate(offsets), np.concatenate(data), used, False, False)
    merged = spread_out(table, -1, local)
    stops = np.cumsum([len(code) for code in codes])[:-1]
    return list(np.split(merged, stops)), Text(ends, signs)


def bare(column: TextColumn) -> TextColumn:
    """Return identifiers by letters and digits, less those that several share."""
    used = np.unique(column.codes[column.codes >= 0])
    (own,), text = together([TextColumn(used, text_cells.bare(column.text))])
    counts = np.bincount(own[own >= 0], minlength=len(text))
    single = np.where((own >= 0) & (counts[own] == 1), own, np.int32(-1))
    table = np.full(len(column.text) + 1, -1, np.int32)
    table[used] = single
    return TextColumn(table[column.codes], text)


def is_counter(column: TextColumn) -> bool:
    """Return whether a column numbers its rows: 1, 2, 3, ..."""
    if not len(column.codes) or (column.codes < 0).any() or column.text[int(column.codes[0])] != "1":
        return False
    strings = column.text.strings()
    return all(strings[code] == str(at) for at, code in enumerate(column.codes.tolist(), 1))


def id_columns(loans: Loans) -> dict[str, TextColumn]:
    """Return the columns that hold ids of loans."""
    return {target: loans.texts[target] for target in KEYS if target in loans.texts}


def asset_ids(loans: Loans, page: Loans) -> Pair | None:
    """Return keys by the file's own ids."""
    own, of_page = loans.texts.get("asset_id"), page.texts.get("asset_id")
    if own is None or of_page is None or (is_counter(own) and is_counter(of_page)):
        return None
    (mine, its), _ = together([own, of_page])
    return mine.astype(np.int64), its.astype(np.int64)


def names(loans: Loans, page: Loans, targets: Sequence[str], *, exact: bool = True) -> Pair | None:
    """Return keys by all of some name columns; None where one side lacks one.

    Args:
        exact: whether all letters and digits count of a facility, or of the only name, else what tells companies apart.
    """
    own, of_page = np.zeros(loans.row_count, np.int64), np.zeros(page.row_count, np.int64)
    for target in targets:
        if target not in loans.texts or target not in page.texts:
            return None
        keys_of = _exact_keys if exact and (target == "facility_name" or len(targets) == 1) else name_keys
        mine, its, count = _name_codes(loans.texts[target], page.texts[target], keys_of)
        own = np.where((own < 0) | (mine < 0), np.int64(-1), own * count + mine)
        of_page = np.where((of_page < 0) | (its < 0), np.int64(-1), of_page * count + its)
    return own, of_page


def descriptions(loans: Loans, page: Loans, *, exact: bool = True) -> Pair | None:
    """Return keys by borrower and facility in one, where one side has them apart."""
    own, of_page = _names_of(loans), _names_of(page)
    if {len(own), len(of_page)} != {1, 2}:
        return None
    single = page if len(of_page) == 1 else loans
    return _described_keys(own, of_page, exact=exact, cuts="facility_name" in single.texts)


def crossed_names(loans: Loans, page: Loans, *, exact: bool = True) -> Pair | None:
    """Return keys by each side's only name: one borrower's, the other facility's."""
    own, of_page = _names_of(loans), _names_of(page)
    is_crossed = len(own) == len(of_page) == 1 and ("facility_name" in loans.texts) != ("facility_name" in page.texts)
    return _described_keys(own, of_page, exact=exact, cuts=False) if is_crossed else None


def begun_names(loans: Loans, page: Loans) -> Pair | None:
    """Return keys by borrowers with which the loans' descriptions begin."""
    own, of_page = loans.texts.get("facility_name", loans.texts.get("borrower_name")), page.texts.get("borrower_name")
    if own is None or of_page is None or "facility_name" in page.texts:
        return None
    if max(len(own.text), len(of_page.text)) > CUT_NAMES_MAX:
        return None
    mine, its_words = ([key(name) for name in column.text.strings()] for column in (own, of_page))
    whole = set(mine)  # what is the name of a loan is not the beginning of another one's
    code_of = {name: at for at, name in enumerate(dict.fromkeys(its_words)) if name and name not in whole}
    its = np.array([*(code_of.get(name, -1) for name in its_words), -1], np.int64)
    begun = np.array([*(_begun(name, code_of) for name in mine), -1], np.int64)
    return begun[own.codes], its[of_page.codes]


def _begun(name: str, code_of: Dict[str, int]) -> int:
    """Return the code of the longest name of whole words at the start; -1 for none."""
    end = name.rfind(" ")
    while end > 0:
        code = code_of.get(name[:end], -1)
        if code >= 0:
            return code
        end = name.rfind(" ", 0, end)
    return -1


def _described_keys(own: list[TextColumn], text_columns: list[TextColumn], *, exact: bool, cuts: bool) -> Pair:
    """Return keys by descriptions.

    Args:
        cuts: whether one may be cut short: a borrower's name alone is no description that was cut.
    """
    mine, its, _ = _name_codes(_describe(own), _describe(text_columns), _exact_keys if exact else name_keys, cuts=cuts)
    return mine.astype(np.int64), its.astype(np.int64)


def _names_of(loans: Loans) -> list[TextColumn]:
    """Return borrower and facility, or the one of them that there is."""
    return [loans.texts[target] for target in ("borrower_name", "facility_name") if target in loans.texts]


def _describe(columns: list[TextColumn]) -> TextColumn:
    """Return the words of one or two columns as one text; blank where one of them is."""
    if len(columns) == 1:
        return columns[0]
    borrower, facility = columns
    has_both = (borrower.codes >= 0) & (facility.codes >= 0)
    pairs = borrower.codes.astype(np.int64) * len(facility.text) + facility.codes
    distinct, local = np.unique(pairs[has_both], return_inverse=True)
    issuers, facilities = borrower.text.strings(), facility.text.strings()
    places = (divmod(pair, len(facilities)) for pair in distinct.tolist())
    codes, pool = text_cells.pool_of(
        [f"{issuers[issuer]} {facilities[facility_code]}" for issuer, facility_code in places]
    )
    described = np.full(len(has_both), -1, np.int32)
    described[has_both] = codes[local]
    return TextColumn(described, pool)


def _exact_keys(column: TextColumn) -> TextColumn:
    """Return names by letters and digits, without footnote marks at their end."""
    text, codes = column.text, column.codes
    marked = _parse.may_have_marks(text.offsets, text.data, bool(text.data.max(initial=0) >= 0x80))
    if len(marked):
        written, extra = text_cells.pool_of([without_marks(text[code]) for code in marked.tolist()])
        table = np.arange(-1, len(text), dtype=np.int32)
        table[marked + 1] = np.where(written < 0, -1, written + np.int32(len(text)))
        column = text_cells.merged_pool(table[codes + 1], text, extra)
    column = text_cells.upper(column)
    (keys,), signs = together([TextColumn(column.codes, text_cells.bare(column.text))])
    return TextColumn(keys, signs)


def _name_codes(
    own: TextColumn, other_text_column: TextColumn, keys_of: Callable[[TextColumn], TextColumn], *, cuts: bool = True
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Return the names of both sides as codes, and the number of codes.

    A name that one side cuts short is the only one that begins with it.
    """
    (mine, its), text = together([keys_of(own), keys_of(other_text_column)])
    if not cuts:
        return mine, its, len(text) + 1
    whole = np.arange(-1, len(text), dtype=np.int32)
    cut = _cut_names(other_text_column, its, own, mine)
    known = {code for pair in cut for code in pair}
    cut += [pair for pair in _cut_names(own, mine, other_text_column, its) if known.isdisjoint(pair)]
    for code, meant in cut:
        whole[code + 1] = meant
    return whole[mine + 1], whole[its + 1], len(text) + 1


def _cut_names(
    short: TextColumn, of_short: NDArray[np.int32], long: TextColumn, of_long: NDArray[np.int32]
) -> list[tuple[int, int]]:
    """Return (key of a cut name, key of the only name that begins with it).

    Each of these is meant once.
    """
    lonely = np.setdiff1d(of_short, of_long)
    lonely = lonely[lonely >= 0]
    if not 0 < len(lonely) <= CUT_NAMES_MAX:
        return []
    pairs = _bare_by_key(short, of_short, lonely)
    if not any(len(written) >= CUT_LEAST for written, _ in pairs):
        return []
    every = sorted(_bare_by_key(long, of_long, np.unique(of_long[of_long >= 0])))
    begins = [written for written, _ in every]
    known = set(of_short.tolist())
    meant: dict[int, set[int]] = {}
    for written, code in pairs:
        if len(written) >= CUT_LEAST:
            at = bisect_left(begins, written)
            keys = {key for name, key in every[at : at + 3] if name.startswith(written)}
            if len(keys) == 1 and not keys & known:
                meant.setdefault(keys.pop(), set()).add(code)
    return [(codes.pop(), key) for key, codes in meant.items() if len(codes) == 1]


def _bare_by_key(column: TextColumn, keys: NDArray[np.int32], wanted: NDArray[np.int32]) -> list[tuple[str, int]]:
    """Return (letters and digits of a name, its key), by the first row with it."""
    places = np.flatnonzero(np.isin(keys, wanted))
    distinct, first = np.unique(keys[places], return_index=True)
    names = text_cells.upper(text_cells.subset(column, places[first]))
    strings = text_cells.bare(names.text).strings()
    return [(strings[code], key) for code, key in zip(names.codes.tolist(), distinct.tolist(), strict=True)]
