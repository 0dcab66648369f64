"""Codes of warnings: one table has them all, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from core.portfolio.notes import WARNING_CODES

CORE = Path(__file__).parents[3] / "core"


def test_every_code_that_is_written_stands_in_the_table() -> None:
    """And every code of the table is written somewhere, so that the table says what can be met."""
    sources = [
        path.read_text(encoding="utf-8")
        for path in sorted(CORE.rglob("*.py"))
        if path.name != "notes.py" or path.parent.name == "report"
    ]
    written = {code for source in sources for code in re.findall(r'DataWarning\(\s*"(\w+)"', source)}
    assert written <= WARNING_CODES.keys()
    words = {word for source in sources for word in re.findall(r'"(\w+)"', source)}
    assert WARNING_CODES.keys() <= words
