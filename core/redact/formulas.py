"""A sheet's formulas without some of them.

What was filled from a dropped one goes on saying the same.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid._intern import intern
from core.grid.address import move_formula, parse_range
from core.grid.column import Text, frozen
from core.grid.sheet import Formulas

_QUOTED: Final = re.compile(r"\"(?:[^\"]|\"\")*+\"?|'(?:[^']|'')*+'?|\[[^\[\]]*+\]?")
_JOINT: Final = re.compile(r"\"\s*&\s*\"")


def quoted(formula: str) -> str:
    """Return what a formula holds of words.

    Its texts, those joined by `&` as one, quoted sheets, names in brackets.

    What stands between them is left out: 123-45-6789 is a difference there.
    """
    return "\n".join(_QUOTED.findall(_JOINT.sub("", formula)))


def covering(formulas: Formulas) -> list[tuple[int, tuple[int, int, int, int]]]:
    """Return the array formulas.

    Their place in the arrays and the inclusive corners of what they fill.
    """
    return [(at, parse_range(area)) for at, area in formulas.arrays.items()]


def without(formulas: Formulas, dropped: NDArray[np.bool_]) -> Formulas:
    """Return the formulas but for those `dropped`.

    Of their texts, only those that are left.

    Where the cell is dropped that others were filled from, the first of these becomes their origin.
    """
    kept = np.flatnonzero(~dropped)
    place = np.full(len(formulas), -1, np.int64)
    place[kept] = np.arange(len(kept))
    origins = place[formulas.origins[kept]]
    texts = formulas.texts[kept].astype(np.int64)
    more: list[str] = []
    first = len(formulas.text)
    heirs: dict[int, int] = {}
    for at in np.flatnonzero(origins < 0).tolist():
        old = int(formulas.origins[kept[at]])
        if old not in heirs:
            formula = formulas.text[int(formulas.texts[old])]
            down = int(formulas.rows[kept[at]]) - int(formulas.rows[old])
            right = int(formulas.columns[kept[at]]) - int(formulas.columns[old])
            moved = move_formula(formula, down, right)
            texts[at] = first + len(more)
            more.append(moved)
            origins[at] = at
            if moved.count("#REF!") == formula.count("#REF!"):  # else what is lost here may be there for the next
                heirs[old] = at
        else:
            origins[at] = heirs[old]
            texts[at] = texts[heirs[old]]
    needed, codes = np.unique(texts, return_inverse=True)
    strings = [formulas.text[code] if code < first else more[code - first] for code in needed.tolist()]
    places, offsets, data = intern(strings)
    arrays = {int(place[at]): area for at, area in formulas.arrays.items() if place[at] >= 0}
    return Formulas(
        rows=frozen(formulas.rows[kept]),
        columns=frozen(formulas.columns[kept]),
        texts=frozen(places[codes]),
        origins=frozen(origins.astype(np.int32)),
        text=Text(frozen(offsets), frozen(data)),
        arrays=arrays,
        dynamic=frozenset(int(place[at]) for at in formulas.dynamic if place[at] >= 0),
    )
