"""Whole commands on a book of 200,000 loans, from the start of the process to its end: made, and recalculated.

The book has 6.4 million cells, 200,000 of them formulas. Nobody else has these commands; they stand against a limit.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.figures import Figure, median_seconds

LOANS = 200_000
GENERATE_SECONDS_MOST = 10.0
RECALC_SECONDS_MOST = 2.05
"""Half of what the command took when it was first timed."""


def run() -> list[Figure]:
    """The median times."""
    with tempfile.TemporaryDirectory() as folder:
        generate = median_seconds(
            lambda: _cushion("generate", f"--loans={LOANS}", f"--out={folder}"), repeats=3, warm=0
        )
        (book,) = Path(folder).iterdir()
        told = _cushion("recalc", str(book), "--check")
        assert f"{LOANS:,} formula cells" in told, told
        assert "0 mismatches" in told, told
        recalc = median_seconds(lambda: _cushion("recalc", str(book)), repeats=5)
    return [
        Figure(name=f"cushion generate, {LOANS:,} loans", seconds=generate, seconds_most=GENERATE_SECONDS_MOST),
        Figure(name=f"cushion recalc, {LOANS:,} loans", seconds=recalc, seconds_most=RECALC_SECONDS_MOST),
    ]


def _cushion(*arguments: str) -> str:
    command = Path(sys.executable).with_name("cushion")
    return subprocess.run([command, *arguments], check=True, capture_output=True, text=True).stdout
