"""What is written of each formula of a sheet: its text, its place in a shared group, an array's range, or nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.limits import FORMULA_CHARACTERS_MAX
from core.files.write import _xlsx as kernel
from core.grid.address import move_formula, parse_range
from core.grid.column import Text, frozen
from core.grid.sheet import Formulas

_WORD: Final = re.compile(
    r"""
      "(?:[^"]|"")*+"?                                              # text
    | \#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!|CALC!)
    | '(?P<quoted>(?:[^']|'')*+)'!
    | (?P<table>[^\W\d][\w.\\]*+)\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*+\])*+\]
    | (?P<outer>\[)
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
NO_FORMULA: Final = "are none that a spreadsheet can hold"


@dataclass(frozen=True, slots=True)
class Known:
    """What the formulas of a workbook can read: the names of its sheets, and of its tables without case."""

    sheets: Collection[str]
    tables: Collection[str]
    folded: Collection[str]
    """The names of the sheets without case."""

    def fault(self, text: str) -> str | None:
        """Why Excel would not open a formula; None where it would."""
        if not text or len(text.encode("utf-16-le")) > 2 * FORMULA_CHARACTERS_MAX or NO_XML.search(text):
            return NO_FORMULA
        if "!" not in text and "[" not in text:
            return None
        for word in _WORD.finditer(text):
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
class Planned:
    """The arrays that the kernel takes, and how many formulas are dropped for which reason."""

    arrays: kernel.SlabFormulas
    dropped: Counter[str]
    spills: bool


def planned(formulas: Formulas, known: Known) -> Planned:
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
        roles[at], groups[at] = kernel.SPILLS if at in formulas.dynamic else kernel.ARRAY, group
    faults = _faults(text, known)
    dropped = Counter[str]()
    if faults:
        for reason in sorted(set(faults.values())):
            bad = np.isin(texts, [code for code, fault in faults.items() if fault == reason])
            dropped[reason] = int(bad.sum())
            roles[bad] = kernel.DROPPED
    arrays = formulas.rows, formulas.columns, texts, roles, groups, boxes.reshape(-1), text.offsets, text.data
    return Planned(arrays, dropped, bool((roles == kernel.SPILLS).any()))


def _spelled(formulas: Formulas, texts: NDArray[np.int32], which: NDArray[np.int64]) -> tuple[Text, NDArray[np.int32]]:
    """The texts with those of some shared members written out at their end."""
    texts = texts.copy()
    added: list[bytes] = []
    for at in which.tolist():
        origin = int(formulas.origins[at])
        rows, columns = (int(places[at] - places[origin]) for places in (formulas.rows, formulas.columns))
        texts[at] = len(formulas.text) + len(added)
        added.append(move_formula(formulas.text[int(formulas.texts[origin])], rows, columns).encode())
    offsets = np.concatenate(
        (formulas.text.offsets, formulas.text.offsets[-1] + np.cumsum([len(one) for one in added]))
    )
    data = np.concatenate((formulas.text.data, np.frombuffer(b"".join(added), np.uint8)))
    return Text(frozen(offsets), frozen(data)), texts


def _faults(text: Text, known: Known) -> dict[int, str]:
    """By the code of a formula that cannot be written why."""
    names = [name.replace("'", "''").encode() for name in known.sheets]
    offsets = np.cumsum([0, *map(len, names)], dtype=np.int64)
    doubtful = kernel.doubtful(text.offsets, text.data, offsets, np.frombuffer(b"".join(names), np.uint8))
    faults = {code: known.fault(text[code]) for code in np.flatnonzero(doubtful).tolist()}
    return {code: fault for code, fault in faults.items() if fault is not None}
