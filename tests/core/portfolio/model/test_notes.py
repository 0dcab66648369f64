"""Codes of warnings: one table has them all, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from core.portfolio.model.notes import WARNING_CODES

ROOT = Path(__file__).parents[4]


def test_every_code_that_is_written_stands_in_the_table() -> None:
    """And every code of the table is written somewhere, so that the table says what can be met."""
    places = (*ROOT.glob("core/**/*.py"), *ROOT.glob("service/**/*.py"), *ROOT.glob("service/**/*.sql"))
    sources = [path.read_text(encoding="utf-8") for path in places]
    written = {code for source in sources for code in re.findall(r'DataWarning\(\s*"(\w+)"', source)}
    assert written <= WARNING_CODES.keys()
    words = Counter(word for source in sources for word in re.findall(r"""["'](\w+)["']""", source))
    assert [code for code in WARNING_CODES if words[code] < 2] == [], "once it stands in the table"
