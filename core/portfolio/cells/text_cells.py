"""A column of texts: read, joined, cut and compared, each string once."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.grid._intern import TextIndex, intern
from core.grid.column import Text
from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import BOOLEAN, DATE, NUMBER, Cells, bit, decode, spread_out
from core.portfolio.cells.text.footnotes import NO_SUPERSCRIPTS, without_marks
from core.remembered import remembered

Index = TypeVar("Index", bound=np.signedinteger[Any])

MASK: Final = "***"
"""The one of them that in a column of ratings stands for a rating that is not shown."""

ASCII_STOP: Final = 0x80


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column's strings: trimmed, distinct, null words blank."""

    codes: NDArray[np.int32]
    """Index into `text`; -1 is blank."""
    text: Text


def read_text(cells: Cells, *, masks: bool = False, written: Callable[[float], str | None] | None = None) -> TextColumn:
    """Read a column's text: numbers as typed, flags as TRUE or FALSE, errors blank.

    Args:
        masks: `MASK` is a text, as in a column of ratings, and not nothing.
        written: what a date's serial is written as, None for blank; without it a date stands as its number.
    """
    pool = cells.pool
    local, used = _parse.distinct(cells.codes, len(pool.text))
    table, offsets, data = _parse.clean(pool.text.offsets, pool.text.data, used, False, True)
    if pool.has_null:
        null = pool.null[used]
        if masks and null.any():
            null[null] = [text.strip() != MASK for text in decode(pool.text, used[null])]
        table[null] = -1
    column = TextColumn(spread_out(table, -1, local), Text(offsets, data))
    for kind, write in ((NUMBER, plain), (DATE, written or plain), (BOOLEAN, _flag)):
        if cells.seen & bit(kind):
            column = _with_written(column, cells, cells.kinds == kind, write)
    return column


def _with_written(
    column: TextColumn, cells: Cells, rows: NDArray[np.bool_], write: Callable[[float], str | None]
) -> TextColumn:
    """Return the text column with the cells of some rows written out."""
    figures, index = np.unique(cells.numbers[rows], return_inverse=True)
    codes, extra = pool_of([write(figure) for figure in figures.tolist()])
    merged = column.codes.copy()
    merged[rows] = np.where(codes < 0, np.int32(-1), codes + np.int32(len(column.text)))[index]
    return merged_pool(merged, column.text, extra)


def _flag(figure: float) -> str:
    """Return TRUE or FALSE, as a sheet shows it."""
    return "TRUE" if figure else "FALSE"


NO_TEXT: Final = Text(np.zeros(1, np.int64), np.zeros(0, np.uint8))
"""A pool without strings."""


def pool_of(strings: Sequence[str | None]) -> tuple[NDArray[np.int32], Text]:
    """Return strings as codes and their pool; None has the code -1."""
    codes, offsets, data = intern(strings)
    return codes, Text(offsets, data)


def without_footnotes(column: TextColumn, *, brackets: bool = True) -> TextColumn:
    """Return a column of names without footnote marks (`footnotes.without_marks`)."""
    data = column.text.data
    may_have = _parse.may_have_marks(column.text.offsets, data, bool(data.max(initial=0) >= ASCII_STOP))
    written = decode(column.text, may_have)
    bare = [without_marks(text, brackets=brackets) for text in written]
    changed = [at for at, (old, new) in enumerate(zip(written, bare, strict=True)) if old != new]
    if not changed:
        return column
    codes, extra = pool_of([bare[at] for at in changed])
    table = np.arange(len(column.text), dtype=np.int32)
    table[may_have[changed]] = codes + np.int32(len(column.text))
    return merged_pool(spread_out(table, -1, column.codes), column.text, extra)


def is_distinct(text: Text) -> bool:
    """Return whether no two strings of a pool are equal.

    It takes half the time of making equal ones one.
    """
    return TextIndex(text.offsets, text.data).is_distinct


def end_to_end(first: Text, second: Text) -> Text:
    """Join the strings of two pools; the second's codes move up."""
    offsets = np.concatenate((first.offsets, second.offsets[1:] + first.offsets[-1]))
    return Text(offsets, np.concatenate((first.data[: first.offsets[-1]], second.data)))


def merged_pool(codes: NDArray[np.int32], first: Text, second: Text, *, upper: bool = False) -> TextColumn:
    """Return codes into two pools end to end, equal strings made one."""
    pool = end_to_end(first, second)
    local, used = _parse.distinct(codes, len(pool))
    table, offsets, data = _parse.clean(pool.offsets, pool.data, used, upper, False)
    return TextColumn(spread_out(table, -1, local), Text(offsets, data))


def upper(column: TextColumn) -> TextColumn:
    """Return the column in upper case."""
    if column.text.data.max(initial=0) < ord("a"):
        return column
    return merged_pool(column.codes, column.text, NO_TEXT, upper=True)


@remembered(16_384)
def letters_and_digits(text: str) -> str:
    """Return a text's letters and digits in upper case, whatever their width.

    Identifiers are compared by them.
    """
    text = unicodedata.normalize("NFKC", text.translate(NO_SUPERSCRIPTS))
    return "".join(sign for sign in text.upper() if sign.isalnum())


def bare(text: Text) -> Text:
    """Return `letters_and_digits` of a pool, each under its code.

    Strings that become equal stay apart.
    """
    offsets, data = _parse.letters_and_digits(text.offsets, text.data)
    if not len(data) or data.max() < ASCII_STOP:
        return Text(offsets, data)
    wide = np.unique(np.searchsorted(text.offsets, np.flatnonzero(text.data >= ASCII_STOP), side="right") - 1)
    pieces, lengths, done = [], np.diff(offsets), 0
    for code, string in zip(wide.tolist(), decode(text, wide), strict=True):
        written = np.frombuffer(letters_and_digits(string).encode(), np.uint8)
        pieces += [data[done : offsets[code]], written]
        lengths[code], done = len(written), offsets[code + 1]
    return Text(np.concatenate(([0], np.cumsum(lengths))), np.concatenate([*pieces, data[done:]]))


def subset(column: TextColumn, rows: NDArray[Index]) -> TextColumn:
    """Return some rows of a text column, with a pool of their strings alone."""
    local, used = _parse.distinct(column.codes[rows], len(column.text))
    _, offsets, data = _parse.clean(column.text.offsets, column.text.data, used, False, True)
    return TextColumn(local, Text(offsets, data))


def plain(figure: float) -> str:
    """Return a number as it would be typed: no trailing .0, no exponent below 1e15."""
    return str(int(figure)) if figure.is_integer() and abs(figure) < 1e15 else repr(figure)


def categories(column: TextColumn, meanings: list[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return (code of each row, sorted names) by the canonical names of its strings.

    A "" is blank.
    """
    names = tuple(sorted(set(meanings) - {""}))
    code_of = {name: code for code, name in enumerate(names)} | {"": -1}
    table = np.array([code_of[name] for name in meanings], np.int32)
    return spread_out(table, -1, column.codes), names
