"""The printed report of a seed: its style, its program, and how it is set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, Literal

from tests.made_reports.model import Report
from tests.made_reports.styles.catalogue import STYLES, report_of
from tests.printed_pdf.drawn import draw_setting, print_drawn
from tests.printed_pdf.flowed import print_flowed
from tests.printed_pdf.libreoffice import draw_paper, print_books
from tests.printed_pdf.printed import Printed
from tests.printed_pdf.sheets import PrintedSheet, PrintHabits, sheets_of

Program = Literal["libreoffice", "reportlab"]
SIGNS: Final = {"USD": "$", "EUR": "€"}


@dataclass(frozen=True, slots=True)
class Variant:
    """A report, and the rows that are printed of it."""

    seed: int
    program: Program
    report: Report
    sheets: list[PrintedSheet]

    @property
    def name(self) -> str:
        return f"{self.program}-{self.seed}-{self.report.style}"


def variant_of(seed: int, program: Program | None = None) -> Variant:
    """Return the variant of a seed; styles take turns, and programs after all styles."""
    own: Program = "libreoffice" if seed // len(STYLES) % 2 == 0 else "reportlab"
    rng = Random(f"print {seed}")
    report = report_of(seed)
    habits = PrintHabits(rng.choice(("dd-mmm-yyyy", "dd-mmm-yyyy", "d mmm yyyy", "mm/dd/yyyy")), rng.random() < 0.5)
    return Variant(seed, program or own, report, sheets_of(report, habits))


def print_variants(variants: Iterable[Variant], folder: Path) -> list[Printed]:
    """Print variants, those of LibreOffice at one start of the program; the folder keeps what is printed."""
    variants = list(variants)
    folder.mkdir(parents=True, exist_ok=True)
    books = {
        each.name: (each.sheets, draw_paper(Random(f"paper {each.seed}"), each.sheets))
        for each in variants
        if each.program == "libreoffice"
    }
    printed = {each.name: each for each in print_books(books, folder)} if books else {}
    for each in variants:
        if each.program == "reportlab":
            setting = draw_setting(Random(f"setting {each.seed}"))
            sign = SIGNS[each.report.deal.market.currency]
            print_report = print_flowed if setting.flows else print_drawn
            printed[each.name] = print_report(each.name, each.sheets, setting, sign)
            (folder / f"{each.name}.pdf").write_bytes(printed[each.name].data)
    return [printed[each.name] for each in variants]
