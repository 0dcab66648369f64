"""What reports call their columns.

Phrases by item and register, and those of columns that carry no field.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final


def _rows(name: str) -> list[list[str]]:
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def _phrases() -> dict[str, dict[str, list[str]]]:
    by_item: dict[str, dict[str, list[str]]] = {}
    for item, register, _, phrases in _rows("words.tsv"):
        by_item.setdefault(item, {}).setdefault(register, []).extend(phrases.split("; "))
    return by_item


PHRASES: Final = _phrases()
"""Item -> register -> phrases."""

SINKS: Final = {sink: phrases.split("; ") for sink, _, phrases in _rows("sinks.tsv")}
"""Column that carries no field -> phrases."""


def heading(rng: Random, item: str, *registers: str) -> str:
    """Draw a heading of the first register that has one of the item, else of any."""
    if item in SINKS:
        return rng.choice(SINKS[item])
    by_register = PHRASES[item]
    register = next((wanted for wanted in registers if wanted in by_register), None) or min(
        set(by_register) - {"group"}
    )
    return rng.choice(by_register[register])
