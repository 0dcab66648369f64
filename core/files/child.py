"""The child process that reads one file: a program, started by `core.files.isolate` and by nothing else.

It is run with the file's path, the folder for its sheets, and the limits that `core.confined` hands on. Its answer is
the manifest of the stored workbook, or its sheets where no folder was given; under "refused" why there is none.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.confined import confine
from core.files.errors import FileRefused
from core.files.read import read, sheets_of
from core.grid.codec import write_workbook


def main(path: str, *rest: str) -> None:
    """Read the file under the limits and say what came of it."""
    folder, limits = rest[:-4], rest[-4:]

    def work() -> dict[str, Any]:
        try:
            if not folder:
                return {"sheets": [asdict(sheet) for sheet in sheets_of(Path(path))]}
            return {"manifest": json.loads(write_workbook(read(path), Path(*folder)).to_json())}
        except FileRefused as refusal:
            return {"refused": type(refusal).__name__, "hint": refusal.hint}

    confine(work, *limits)


if __name__ == "__main__":
    main(*sys.argv[1:])
