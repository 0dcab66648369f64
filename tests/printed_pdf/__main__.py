"""Print how much of printed reports is read, by style and program.

python -m tests.printed_pdf --seeds 100 --program libreoffice --show 20
"""

from __future__ import annotations

import argparse
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from core.files.errors import FileRefused
from core.files.read import read
from core.grid.sheet import Workbook
from tests.made_reports.styles.catalogue import STYLES
from tests.printed_pdf.compare import Comparison, compare
from tests.printed_pdf.figures import DEFINITIONS, differences, outcomes
from tests.printed_pdf.printed import Printed
from tests.printed_pdf.sheets import workbook_of_prints
from tests.printed_pdf.variants import Variant, print_variants, variant_of

FOLDER = Path(tempfile.gettempdir()) / f"printed_pdf_{Path(__file__).parents[2].name}"
"""Of this copy of the code alone."""


@dataclass
class Board:
    """Shares, and what is wrong."""

    shares: dict[tuple[str, str], list[Comparison]] = field(default_factory=lambda: defaultdict(list))
    lines: list[tuple[float, str]] = field(default_factory=list)
    figures: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    pages: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.printed_pdf", description=__doc__)
    parser.add_argument("--seeds", type=int, default=16, help="number of reports")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, action="append", help="these seeds alone")
    parser.add_argument("--program", choices=("libreoffice", "reportlab"), help="all of them by this program")
    parser.add_argument("--style", choices=sorted(STYLES), help="seeds of this style alone")
    parser.add_argument("--show", type=int, default=8, help="the worst reports, and wrong rows of each")
    parser.add_argument("--no-figures", action="store_true", help="cells alone, no compliance results")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="keeps the printed files")
    parser.add_argument("--dump", action="store_true", help="print the rows that are read of each report")
    options = parser.parse_args()
    seeds = options.seed or range(options.first, options.first + options.seeds)
    variants = [variant_of(seed, options.program) for seed in seeds]
    variants = [each for each in variants if options.style in (None, each.report.style)]
    started = time.perf_counter()
    printed = print_variants(variants, options.folder)
    print(f"{len(printed)} reports printed in {time.perf_counter() - started:.1f} s, in {options.folder}")
    board = Board()
    for variant, document in zip(variants, printed, strict=True):
        _add(board, variant, document, options)
    print(table(board))
    for _, text in sorted(board.lines)[: options.show]:
        print(text)


def _add(board: Board, variant: Variant, document: Printed, options: argparse.Namespace) -> None:
    path = options.folder / f"{document.name}.pdf"
    started = time.process_time()
    try:
        book = read(path)
    except FileRefused as refused:
        book = Workbook(())
        print(f"{document.name} is refused: {refused.hint}")
    except Exception:
        book = Workbook(())
        print(f"{document.name} is not read\n{traceback.format_exc(limit=-4)}")
    board.seconds += time.process_time() - started
    board.pages += document.page_count
    if options.dump:
        print(dump(book))
    comparison = compare(document, book)
    board.shares[variant.report.style, variant.program].append(comparison)
    lines = [f"\n{comparison.share:.2%} {document.name} ({document.page_count} pages, {document.words})"]
    lines.append(
        f"   wrong cells by kind of row: {dict(comparison.kinds)}; {comparison.pages_wrong} rows on a wrong page"
    )
    shown = Counter[str]()
    for miss in sorted(comparison.misses, key=lambda miss: -miss.wrong):
        shown[miss.kind] += 1
        if shown[miss.kind] <= max(3, options.show // 2):
            lines.append(f"   page {miss.page} {miss.kind} {miss.wrong} wrong: {miss.text[:300]}")
    differs = [] if options.no_figures or not book.sheets else _differences(variant, document, book)
    board.figures["reports with other figures" if differs else "reports with the same figures"] += bool(book.sheets)
    lines += [f"   figure {line}" for line in differs[:8]]
    lines += [f"   remark {remark.code}: {remark.message}" for remark in book.remarks[:4]]
    if comparison.wrong or differs:
        board.lines.append((comparison.share, "\n".join(lines)))


def _differences(variant: Variant, document: Printed, book: Workbook) -> list[str]:
    definition = DEFINITIONS[variant.report.deal.market.currency]
    expected = outcomes(workbook_of_prints(document.sheets), definition)
    try:
        return differences(outcomes(book, definition), expected)
    except Exception as error:
        return [f"no results: {error!r}"]


def table(board: Board) -> str:
    """Return shares of cells by style and program."""
    programs = sorted({program for _, program in board.shares})
    lines = [f"{'cells right / documents':24}" + "".join(f"{program:>22}" for program in [*programs, "all"])]
    for style in [*STYLES, "all"]:
        row = [_of(board, style, program) for program in [*programs, "all"]]
        if any(row):
            lines.append(f"{style:24}" + "".join(f"{_share(cell):>22}" for cell in row))
    everything = _of(board, "all", "all")
    kinds = sum((each.kinds for each in everything), Counter[str]())
    lines.append(f"wrong cells by kind of row: {dict(kinds)}")
    lines.append(f"rows on a wrong page: {sum(each.pages_wrong for each in everything)}; {dict(board.figures)}")
    lines.append(f"reading {board.seconds / max(1, board.pages):.3f} s of a core a page, {board.pages} pages")
    return "\n".join(lines)


def _of(board: Board, style: str, program: str) -> list[Comparison]:
    return [
        each
        for (own_style, own_program), comparisons in board.shares.items()
        for each in comparisons
        if style in ("all", own_style) and program in ("all", own_program)
    ]


def _share(comparisons: list[Comparison]) -> str:
    right, wrong = sum(each.right for each in comparisons), sum(each.wrong for each in comparisons)
    worst = min((each.share for each in comparisons), default=0.0)
    return f"{right / max(1, right + wrong):.2%} /{len(comparisons):3} >={worst:.1%}" if comparisons else "-"


def dump(book: Workbook) -> str:
    """Return all rows of a workbook."""
    lines = []
    for sheet in book.sheets:
        lines.append(f"== {sheet.name} ({sheet.row_count} rows)")
        for row in range(sheet.row_count):
            cells = [sheet.value(row, column) for column in range(sheet.column_count)]
            lines.append(f"{sheet.page_line(row)} " + " | ".join("" if cell is None else str(cell) for cell in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
