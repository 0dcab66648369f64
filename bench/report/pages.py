"""Where tables and pictures go.

Blocks between markers in the README and the guide, or a page in a folder of its own.

A block stands between `<!-- measured: NAME -->` and `<!-- /measured -->`; a test holds that
each is what the report writes from the kept runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench.report import pictures, tables
from bench.report.runs import BenchmarkRun

ROOT: Final = Path(__file__).parents[2]
GUIDE: Final = "docs/reference/speed.md"
PAGES: Final = ("README.md", GUIDE)
PICTURES: Final = "docs/assets"

_BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- /measured -->)", re.DOTALL)


def trend(runs: Sequence[BenchmarkRun]) -> str:
    """The picture of the trend, where there is one."""
    return "![Run by run](../assets/speed-trend.svg)" if len(runs) > 1 else ""


def growth(runs: Sequence[BenchmarkRun]) -> str:
    """The table under its head, where anything was asked about growth."""
    table = tables.growth(runs[-1])
    return f"## How time and memory grow with the rows\n\n{table}" if table else ""


_BLOCKS: Final[dict[str, Callable[[Sequence[BenchmarkRun]], str]]] = {
    "machine": lambda runs: tables.machine(runs[-1]),
    "short": lambda runs: tables.short(runs[-1]),
    "whole": lambda runs: tables.whole(runs[-1]),
    "trend": trend,
    "growth": growth,
}


def drawn(runs: Sequence[BenchmarkRun]) -> dict[str, str]:
    """The pictures of the last run and of all runs, by file name."""
    last = runs[-1]
    drawings = {
        "speed.svg": pictures.peers(tables.chosen(last)),
        "speed-peers.svg": pictures.peers(last.ours),
        "speed-limits.svg": pictures.limits(last.ours),
    }
    return drawings | ({"speed-trend.svg": pictures.trend(runs)} if len(runs) > 1 else {})


def filled(page: str, runs: Sequence[BenchmarkRun]) -> str:
    """A page with its blocks written anew."""

    def block(match: re.Match[str]) -> str:
        text = _BLOCKS[match[2]](runs)
        return f"{match[1]}\n{text}\n\n{match[3]}" if text else f"{match[1]}{match[3]}"

    return _BLOCK.sub(block, page)


def published(runs: Sequence[BenchmarkRun]) -> dict[Path, str]:
    """Each file of the repository that shows the runs, as it should be."""
    pages = {ROOT / name: filled((ROOT / name).read_text(encoding="utf-8"), runs) for name in PAGES}
    return pages | {ROOT / PICTURES / name: picture for name, picture in drawn(runs).items()}


def apart(runs: Sequence[BenchmarkRun]) -> dict[Path, str]:
    """The guide's page and all pictures, by their paths in a folder."""
    page = filled((ROOT / GUIDE).read_text(encoding="utf-8"), runs)
    pages = {"speed.md": page.replace("../assets/", ""), **drawn(runs)}
    return {Path(name): text for name, text in pages.items()}
