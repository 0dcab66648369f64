"""A printed report: its bytes, its sheets, and the page of each row."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.printed_pdf.sheets import PrintedSheet


@dataclass(frozen=True, slots=True)
class Printed:
    """A PDF with the truth about it."""

    name: str
    data: bytes
    sheets: list[PrintedSheet]
    pages: list[list[int]]
    """By sheet and row: the page, from 1; 0 for a blank row."""
    page_count: int
    running: list[str] = field(default_factory=list)
    """Texts of headers and footers, with # for digits."""
    words: str = ""
    """The program and its habits, for people."""
