"""What is not looked at closely is what could be written anyway."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from core.files.write import _xlsx as kernel
from core.files.write.formulas import Known

NAMES = ["One", "It's", "Ärger.2"]
KNOWN = Known(NAMES, {"table"}, {name.casefold() for name in NAMES})
PIECES = [
    "One",
    "Gone",
    "'",
    "''",
    "It''s",
    "Ärger.2",
    "!",
    '"',
    "[1]",
    "Table[x]",
    "#REF!",
    ":",
    "A1",
    "+",
    "\x01",
    "\uffff",
    "one",
]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
@example("'It''s'!A1+One!B2&\"Gone!'\"")
@example("One:Gone!A1")
def test_a_formula_that_cannot_be_written_is_looked_at(text: str) -> None:
    names = [name.replace("'", "''").encode() for name in NAMES]
    data = np.frombuffer(text.encode() + b"".join(names), np.uint8)
    size = len(text.encode())
    offsets = np.cumsum([0, *map(len, names)], dtype=np.int64)
    doubtful = kernel.doubtful(np.array([0, size], np.int64), data[:size], offsets, data[size:])
    assert doubtful[0] or KNOWN.fault(text) is None


def test_plain_formulas_are_not_looked_at() -> None:
    """Else a million of them take eight seconds."""
    for text in ("A1*2", "One!A1+'It''s'!$B$2:C3", 'IF(Ärger.2!A1,"Gone!A1","[x]")'):
        data = np.frombuffer(text.encode() + b"OneIt''s" + "Ärger.2".encode(), np.uint8)
        size = len(text.encode())
        names = np.array([0, 3, 8, 16], np.int64)
        assert not kernel.doubtful(np.array([0, size], np.int64), data[:size], names, data[size:])[0], text
