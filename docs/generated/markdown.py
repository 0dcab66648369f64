"""Pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table; bars and line ends in a cell are escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell(text) for text in line)} |" for line in lines)


def cell(text: str) -> str:
    """Escape a text for a table's cell."""
    return re.sub(r"\s*\n\s*", " ", text).replace("|", "\\|")


def code(text: str) -> str:
    """Write a text as code within a line."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def plain(text: str) -> str:
    """Escape a text, so that nothing in it is a tag, an emphasis or a link."""
    outside = re.split(r"(`[^`]*`)", text)
    return "".join(part if at % 2 else re.sub(r"([*_<\[\]])", r"\\\1", part) for at, part in enumerate(outside))


def fenced(text: str, language: str = "") -> str:
    """Make a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def page(*parts: str) -> str:
    """Parts with a blank line between them; empty ones are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"
