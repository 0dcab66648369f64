"""Formulas whose spelling programs read differently though their normal form is the same.

A file keeps functions that are younger than its format behind a prefix. Before another function one makes Excel show
#NAME? where a program that ignores it calculates, and so does a younger function without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from core.files.write.newer import NEWER, with_prefixes
from core.formula import FUNCTIONS
from core.grid.address import cell_name
from core.grid.sheet import Sheet

_WORD: Final = re.compile(
    r"\"(?:[^\"]|\"\")*+\"?|'(?:[^']|'')*+'|(?<![\w.\\])(?P<prefix>(?:_xl[a-z]+\.)*)(?P<name>[A-Z_][\w.]*+)(?P<call>\s*\()?",
    re.IGNORECASE,
)
_MARKED: Final = frozenset({"LET", "LAMBDA", "SINGLE", "ANCHORARRAY"})
_VALUES: Final = re.compile(r"_xlfn\.(?:LET|LAMBDA)\s*\(", re.IGNORECASE)


def misspelt(text: str) -> str | None:
    """Return what of a formula, without '=', programs read differently, or None."""
    for word in _WORD.finditer(text):
        if word["name"] and not _is_stored_so(text, word):
            return f"{word['prefix']}{word['name']}"
    return None


def _is_stored_so(text: str, word: re.Match[str]) -> bool:
    prefix, name, is_call = word["prefix"].lower(), word["name"].upper(), bool(word["call"])
    if prefix == "_xlpm.":
        return not is_call and _VALUES.search(text) is not None
    if not is_call:
        return not prefix or name.startswith("_TRO")
    if name in NEWER:
        if name == "ISO.CEILING" and not prefix:  # which some versions of Excel do not count as younger
            return True
        return f"{prefix}{name.lower()}(" == with_prefixes(f"{name}(").lower()
    if name in _MARKED or name.startswith("_TRO"):
        return prefix == "_xlfn."
    return not prefix or name not in FUNCTIONS


def misspelt_cells(sheet: Sheet) -> Iterator[tuple[str, str]]:
    """Yield (cell, what of its formula) for each text that programs read differently, where it stands first."""
    formulas = sheet.formulas
    codes, firsts = np.unique(formulas.texts, return_index=True)
    for code, first in zip(codes.tolist(), firsts.tolist(), strict=True):
        if (wrong := misspelt(formulas.text[code])) is not None:
            yield cell_name(int(formulas.rows[first]), int(formulas.columns[first])), wrong
