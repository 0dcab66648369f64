"""What a deal's definition says nothing of, by the standard of its market."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from core.definition.definition import Definition
from core.definition.keys import TableKey, rows_of

SECTIONS: Final = ("conventions", "ratings", "classifications", "par_value", "interest_coverage")
"""Sections of rules. Tests, classes and limits are a deal's own."""


def under_market(definition: Definition, market: Definition, name: str) -> Definition:
    """Return the definition over its market's rules, as if its document named that base.

    Args:
        name: of the market's ready-made definition.
    """
    rules = {
        section: _over(section, getattr(definition, section), getattr(market, section), definition.stated)
        for section in SECTIONS
    }
    return replace(definition, **rules, base=name)


def _over(path: str, own: Any, market: Any, stated: frozenset[str]) -> Any:
    """Return a section of the definition, and of the market's what it says nothing of."""
    taken = {}
    for row in rows_of(own):
        key = f"{path}.{row.name.rstrip('_')}"
        own_value, usual = getattr(own, row.name), getattr(market, row.name)
        if isinstance(row.metadata["kind"], TableKey) and own_value is not None and usual is not None:
            taken[row.name] = _over(key, own_value, usual, stated)
        elif key not in stated and own_value == row.default:
            taken[row.name] = usual
    return replace(own, **taken)
