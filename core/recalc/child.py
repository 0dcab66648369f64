"""The child process that recalculates one stored workbook: a program, started by `core.recalc.isolate` only.

It is run with the path of its order (JSON: the manifest, the sheets' files, the moment), the folder for the calculated
sheets, and the limits that `core.confined` hands on. Its answer is the new manifest and what is to be said of the run.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from random import random
from typing import Any

from core.confined import confine
from core.grid.codec import Manifest, open_workbook, write_workbook
from core.recalc.book import Book

CYCLES_TOLD = 10
CYCLE_CELLS_TOLD = 10


def main(order: str, folder: str, *limits: str) -> None:
    """Recalculate under the limits and say what came of it."""

    def work() -> dict[str, Any]:
        asked = json.loads(Path(order).read_text(encoding="utf-8"))
        manifest = Manifest.from_json(json.dumps(asked["manifest"]))
        book = Book(open_workbook(manifest, [Path(path) for path in asked["paths"]]))
        result = book.recalculate(now=datetime.fromisoformat(asked["now"]), random=random)
        return {
            "manifest": json.loads(write_workbook(book, Path(folder)).to_json()),
            "cell_count": result.cell_count,
            "unsupported": sorted(result.unsupported),
            "cycles": [list(cycle[:CYCLE_CELLS_TOLD]) for cycle in result.cycles[:CYCLES_TOLD]],
            "cycle_count": len(result.cycles),
            "fault_count": sum(len(fault.cells) for fault in result.faults),
        }

    confine(work, *limits)


if __name__ == "__main__":
    main(*sys.argv[1:])
