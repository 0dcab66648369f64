"""What is written of each formula of a sheet.

Its text, its place in a shared group, an array's range, or nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.limits import FORMULA_CHARACTERS_MAX
from core.files.write import _xlsx as kernel
from core.files.write.newer import NEWER, has_dots, with_prefixes
from core.grid.address import move_formula, parse_range
from core.grid.calculation import data_table_of
from core.grid.column import Text, frozen
from core.grid.sheet import Formulas

_WORD: Final = re.compile(
    r"""
      "(?:[^"]|"")*+"?                                              # text
    | \#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!|CALC!)
    | '(?P<quoted>(?:[^']|'')*+)'!
    | (?P<table>[^\W\d][\w.\\]*+)\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*+\])*+\]
    | (?P<outer>\[)
    | (?<![\w.])(?:(?P<named>LET|LAMBDA)|(?P<pivot>GETPIVOTDATA)|(?P<total>(?:_xlfn\.)?(?:SUBTOTAL|AGGREGATE)))\(
    | (?P<bare>[^\W\d][\w.]*+(?::[\w.]++)?)!
    | [\w.\\]++
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CELL: Final = re.compile(r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}")
NO_XML: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML cannot hold."""

OTHER_FILE: Final = "read another file"
NO_SHEET: Final = "read a sheet that is not written"
NO_TABLE: Final = "read a table that is not written"
AS_TYPED: Final = "name values by LET or LAMBDA, but not as a file does"
TRIMMED: Final = "trim what is no plain range"
OF_FILTERED: Final = "total what a filter shows"
OF_PIVOT: Final = "read a pivot table"
NO_FORMULA: Final = "are none that a spreadsheet can hold"


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What the formulas of a workbook can read.

    The names of its sheets, and of its tables without case.
    """

    sheets: Collection[str]
    tables: Collection[str]
    folded: Collection[str]
    """The names of the sheets without case."""
    filtered: bool = False
    """Whether a filter hides rows of a sheet: in the file, which has no filters, they are hidden by hand."""

    @property
    def watched(self) -> tuple[str, ...]:
        """Functions whose formulas are looked at."""
        totals = ("SUBTOTAL", "AGGREGATE", "_xlfn.AGGREGATE") if self.filtered else ()
        return ("LET", "LAMBDA", "GETPIVOTDATA", *totals)

    def fault(self, text: str) -> str | None:
        """Return why Excel would not open a formula; None where it would."""
        if not text or len(text.encode("utf-16-le")) > 2 * FORMULA_CHARACTERS_MAX or NO_XML.search(text):
            return NO_FORMULA
        if has_dots(text):
            return TRIMMED
        if not any(sign in text for sign in ("!", "[", *self.watched)):
            return None
        return next(filter(None, map(self._word_fault, _WORD.finditer(text))), None)

    def _word_fault(self, word: re.Match[str]) -> str | None:
        if word["named"]:
            return AS_TYPED
        if word["pivot"]:
            return OF_PIVOT
        if word["total"] and self.filtered:
            return OF_FILTERED
        if word["outer"] or (word["quoted"] and "[" in word["quoted"]):
            return OTHER_FILE
        if word["table"] and word["table"].casefold() not in self.tables:
            return NO_TABLE
        named = word["bare"] or (word["quoted"] or "").replace("''", "'")
        for name in named.split(":") if named else ():
            if name.casefold() not in self.folded and not (word["bare"] and ":" in named and _CELL.fullmatch(name)):
                return NO_SHEET
        return None


@dataclass(frozen=True, slots=True)
class FormulaPlan:
    """The arrays that the kernel takes, and how many formulas are dropped for which reason."""

    arrays: kernel.SlabFormulas
    dropped: Counter[str]
    spills: bool


def plan_formulas(formulas: Formulas, known: KnownNames) -> FormulaPlan:
    """Decide for each formula."""
    count = len(formulas)
    own = np.arange(count, dtype=np.int32)
    text, texts, origins = formulas.text, formulas.texts[formulas.origins], formulas.origins
    roles = np.full(count, kernel.PLAIN, np.uint8)
    groups = np.zeros(count, np.int32)
    # Excel takes the first cell of a shared group for its top left corner; other members say their own formula.
    alone = np.flatnonzero((origins > own) | (formulas.columns < formulas.columns[origins]))
    if len(alone):
        text, texts = _spelled(formulas, texts, alone)
        origins = origins.copy()
        origins[alone] = alone
    members = np.flatnonzero(origins != own)
    heads, which = np.unique(origins[members], return_inverse=True)
    roles[members], roles[heads] = kernel.MEMBER, kernel.ORIGIN
    groups[members], groups[heads] = which, np.arange(len(heads))
    boxes = np.empty((len(heads) + len(formulas.arrays), 4), np.int32)
    boxes[: len(heads), 0] = boxes[: len(heads), 2] = formulas.rows[heads]
    boxes[: len(heads), 1] = boxes[: len(heads), 3] = formulas.columns[heads]
    for places, at in ((formulas.rows, 0), (formulas.columns, 1)):
        np.minimum.at(boxes[:, at], which, places[members])
        np.maximum.at(boxes[:, at + 2], which, places[members])
    for group, (at, covers) in enumerate(sorted(formulas.arrays.items()), len(heads)):
        place = int(formulas.rows[at]), int(formulas.columns[at])
        box = parse_range(covers)
        boxes[group] = box if box[:2] == place else place * 2
        roles[at], groups[at] = _array_role(formulas, at), group
    text, texts, faults = _as_in_files(text, texts, known)
    dropped = Counter[str]()
    if faults:
        for reason in sorted(set(faults.values())):
            bad = np.isin(texts, [code for code, fault in faults.items() if fault == reason])
            dropped[reason] = int(bad.sum())
            roles[bad] = kernel.DROPPED
    arrays = formulas.rows, formulas.columns, texts, roles, groups, boxes.reshape(-1), text.offsets, text.data
    return FormulaPlan(arrays, dropped, bool((roles == kernel.SPILLS).any()))


def _array_role(formulas: Formulas, at: int) -> int:
    if at in formulas.dynamic:
        return kernel.SPILLS
    return kernel.ARRAY if data_table_of(formulas.text[int(formulas.texts[at])]) is None else kernel.TABLE


def _spelled(formulas: Formulas, texts: NDArray[np.int32], which: NDArray[np.int64]) -> tuple[Text, NDArray[np.int32]]:
    """Return the texts with those of some shared members written out at their end."""
    texts = texts.copy()
    added: list[bytes] = []
    for at in which.tolist():
        origin = int(formulas.origins[at])
        rows, columns = (int(places[at] - places[origin]) for places in (formulas.rows, formulas.columns))
        texts[at] = len(formulas.text) + len(added)
        added.append(move_formula(formulas.text[int(formulas.texts[origin])], rows, columns).encode())
    return _longer(formulas.text, added), texts


def _longer(text: Text, added: list[bytes]) -> Text:
    """Return some texts with others behind them."""
    offsets = np.concatenate((text.offsets, text.offsets[-1] + np.cumsum([len(each) for each in added])))
    return Text(frozen(offsets), frozen(np.concatenate((text.data, np.frombuffer(b"".join(added), np.uint8)))))


def _words(words: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return words end to end, and where each begins."""
    data = [word.encode() for word in words]
    return np.cumsum([0, *map(len, data)], dtype=np.int64), np.frombuffer(b"".join(data), np.uint8)


def _as_in_files(
    text: Text, texts: NDArray[np.int32], known: KnownNames
) -> tuple[Text, NDArray[np.int32], dict[int, str]]:
    """Return the texts with the prefixes of newer functions, that of each formula, and by a text's code why it cannot
    be written."""
    sheets = _words(name.replace("'", "''") for name in known.sheets)
    looks = kernel.looks(text.offsets, text.data, *sheets, *_words(NEWER), *_words(known.watched))
    newer = np.flatnonzero(looks & kernel.NEWER)
    if len(newer):
        count = len(text)
        text = _longer(text, [with_prefixes(text[code]).encode() for code in newer.tolist()])
        moved = np.arange(count, dtype=np.int32)
        moved[newer] = np.arange(count, len(text))
        texts, looks = moved[texts], np.concatenate((looks, looks[newer]))
    faults = {code: known.fault(text[code]) for code in np.flatnonzero(looks & kernel.DOUBTFUL).tolist()}
    return text, texts, {code: fault for code, fault in faults.items() if fault is not None}
