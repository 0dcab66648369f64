"""The schema's page says what the schema is."""

from __future__ import annotations

from pathlib import Path

from core.definition.describe import described

PAGE = Path(__file__).parents[3] / "core/definition/README.md"


def test_the_page_is_that_of_the_schema() -> None:
    """Written anew by `python -m core.definition.describe > core/definition/README.md`."""
    assert PAGE.read_text(encoding="utf-8") == described()
