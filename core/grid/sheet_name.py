"""Names of sheets: those that an .xlsx can have, and how a formula writes one."""

from __future__ import annotations

from typing import Final

CHARACTERS_MAX: Final = 31
"""Of a sheet's name, in UTF-16 units."""

_NO_PART_OF_A_NAME: Final = str.maketrans(dict.fromkeys("[]:*?/\\", "_"))


def in_quotes(name: str) -> str:
    """Return a sheet's name, or a run of sheets, as a formula writes any of them.

    'Q1 ''24'.
    """
    return "'" + name.replace("'", "''") + "'"


def free_name(name: str, taken: set[str]) -> str:
    """Return a name that an .xlsx can have and no other sheet has, like the given one; its folded form is added to
    `taken`."""
    plain = "".join(letter if letter.isprintable() else "_" for letter in name.translate(_NO_PART_OF_A_NAME))
    plain = _cut(plain.strip("'"), CHARACTERS_MAX) or "Sheet"
    free, count = plain, 1
    while free.casefold() in taken:
        count += 1
        ending = f" ({count})"
        free = _cut(plain, CHARACTERS_MAX - len(ending)) + ending
    taken.add(free.casefold())
    return free


def _cut(name: str, units: int) -> str:
    return name.encode("utf-16-le", "replace")[: 2 * units].decode("utf-16-le", "ignore")
