"""Print how much of drawn documents is read right: `python -m tests.pdf_layouts --seeds 4 --show 20`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from core.files.errors import FileRefused
from core.files.pdf import read_pdf
from tests.pdf_layouts import bank, filing, monthly, programs, schedule, small
from tests.pdf_layouts.score import Score, score_of
from tests.pdf_layouts.truth import Document, Draw, Table

KINDS: dict[str, Draw] = {
    "schedule": schedule.draw, "filing": filing.draw, "monthly": monthly.draw, "bank": bank.draw,
    "web": programs.draw_web, "typeset": programs.draw_typeset, "small": small.draw,
}  # fmt: skip


def _score(kind: str, seed: int, folder: Path | None) -> tuple[Score | None, str]:
    document = KINDS[kind](seed)
    if folder is not None:
        (folder / f"{document.name}.pdf").write_bytes(document.data)
    begin = time.perf_counter()
    try:
        book = read_pdf(document.data)
    except FileRefused as refused:
        return None, f"{document.name}: refused: {refused.hint}"
    seconds = (time.perf_counter() - begin) / document.page_count
    score = score_of(document, book)
    crowds = [table.name for table in document.tables if _shares_sheet(table, document, score)]
    torn = {name: count for name, count in score.pieces.items() if count != 1}
    return score, (
        f"{document.name}: {score.share:.2%} of {score.cells:,} cells, headers {score.headers_right}/{score.headers}, "
        f"rows missing {score.rows_missing}/{score.rows}, lines {score.lines_right}, surplus cells {score.surplus}, "
        f"misprints {'right' if score.misprints_right else 'WRONG'}, {len(book.sheets)} sheets, {seconds:.3f} s a page"
        + (f", not in one sheet: {torn}" if torn else "")
        + (f", in a sheet with tables of other pages: {', '.join(crowds)}" if crowds else "")
    )


def _shares_sheet(table: Table, document: Document, score: Score) -> bool:
    """Return whether a table over several pages is in one sheet with a table that stands on none of them."""
    home = score.homes.get(table.name)
    others = [near for near in document.tables if near.name != table.name and score.homes.get(near.name) == home]
    return len(table.pages) > 1 and any(not set(near.pages) & set(table.pages) for near in others)


def main(report: Callable[[str], None] = print) -> None:
    """Draw, read and score documents by the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=list(KINDS), help="one kind; all of them otherwise")
    parser.add_argument("--seeds", type=int, default=2, help="how many documents of each kind; all small ones")
    parser.add_argument("--seed", type=int, help="one seed alone")
    parser.add_argument("--show", type=int, default=5, help="how many wrong cells of each document are shown")
    parser.add_argument("--folder", type=Path, help="where the documents are kept")
    options = parser.parse_args()
    for kind in [options.kind] if options.kind else KINDS:
        scores = []
        count = len(small.READABLE) if kind == "small" else options.seeds
        for seed in [options.seed] if options.seed is not None else range(count):
            score, line = _score(kind, seed, options.folder)
            report(line)
            for wrong in score.wrong[: options.show] if score else ():
                report(f"    {wrong}")
            scores.append(score)
        right = sum(score.right for score in scores if score)
        cells = sum(score.cells + score.surplus for score in scores if score)
        report(f"{kind}: {right / max(cells, 1):.2%} of {cells:,} cells, {scores.count(None)} refused")


if __name__ == "__main__":
    main()
