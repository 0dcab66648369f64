"""Whole commands on a book of 200,000 loans, from the start of the process to its end: made, and recalculated.

The book has 6.4 million cells, 200,000 of them formulas. Nobody else has these commands; they stand against a limit.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.questions import OURS, Prepared, Question
from bench.rows import asked

LOANS = 200_000
GENERATE_SECONDS_MOST = 10.0
RECALC_SECONDS_MOST = 2.05
"""Half of what the command took when it was first timed."""


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _generated(folder: Path) -> Prepared:
    return Prepared(works={OURS: lambda: _cushion("generate", f"--loans={LOANS}", f"--out={folder}")})


def _recalculated(folder: Path) -> Prepared:
    _cushion("generate", f"--loans={LOANS}", f"--out={folder}")
    (book,) = folder.iterdir()
    output = _cushion("recalc", str(book), "--check")
    assert f"{LOANS:,} formula cells" in output, output
    assert "0 mismatches" in output, output
    return Prepared(works={OURS: lambda: _cushion("recalc", str(book))})


def _cushion(*arguments: str) -> str:
    command = Path(sys.executable).with_name("cushion")
    return subprocess.run([command, *arguments], check=True, capture_output=True, text=True).stdout


bench_commands = asked(
    Question(
        name=f"cushion generate, {LOANS:,} loans", prepare=_generated, data=_folder, repeats=3, warm=0,
        seconds_most=GENERATE_SECONDS_MOST,
    ),
    Question(
        name=f"cushion recalc, {LOANS:,} loans", prepare=_recalculated, data=_folder, repeats=4,
        seconds_most=RECALC_SECONDS_MOST,
    ),
)  # fmt: skip
