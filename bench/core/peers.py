"""The other formula engines, behind the few calls that the benchmarks need.

`make bench` installs them, users do not.

Each is used as its documentation shows: values and formulas in batches where it has them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from bench.questions import LeftOut

SHEET = "S"
HYPERFORMULA = "hyperformula@3.5.0"
_ROOT = Path(__file__).parents[2]
_INSTALLED = _ROOT / "build" / "peers"
"""Packages of npm, which the suite installs by itself."""


class Peer(Protocol):
    """One sheet of another engine; rows and columns from 1."""

    def put(self, column: int, values: Sequence[Any]) -> None:
        """Fill a column from the first row."""

    def formulas(self, column: int, texts: Sequence[str]) -> None:
        """Fill a column with formulas."""

    def calculate(self) -> None:
        """Recalculate."""

    def column(self, column: int, rows: int) -> list[Any]:
        """The first cells of a column, calculated."""


class Formualizer:
    """formualizer (Rust): recalculates what changed."""

    def __init__(self) -> None:
        import formualizer

        self._book: Any = formualizer.Workbook()
        self._book.add_sheet(SHEET)

    def put(self, column: int, values: Sequence[Any]) -> None:
        self._book.set_values_batch(SHEET, 1, column, [[value] for value in values])

    def formulas(self, column: int, texts: Sequence[str]) -> None:
        self._book.set_formulas_batch(SHEET, 1, column, [[text] for text in texts])

    def calculate(self) -> None:
        self._book.evaluate_all()

    def column(self, column: int, rows: int) -> list[Any]:
        return [self._book.get_value(SHEET, row, column) for row in range(1, rows + 1)]


class Ironcalc:
    """ironcalc (Rust): it has no batches, and recalculates everything."""

    def __init__(self) -> None:
        import ironcalc

        self._model: Any = ironcalc.create("bench", "en", "UTC", "en")

    def put(self, column: int, values: Sequence[Any]) -> None:
        for row, value in enumerate(values, 1):
            if isinstance(value, str):
                self._model.update_cell_with_text(0, row, column, value)
            else:
                self._model.update_cell_with_number(0, row, column, value)

    def formulas(self, column: int, texts: Sequence[str]) -> None:
        for row, text in enumerate(texts, 1):
            self._model.update_cell_with_formula(0, row, column, text)

    def calculate(self) -> None:
        self._model.evaluate()

    def column(self, column: int, rows: int) -> list[Any]:
        return [self._model.get_cell_value(0, row, column) for row in range(1, rows + 1)]


class HyperFormula:
    """HyperFormula (TypeScript), in a process of Node's.

    Recalculates what changed; an order takes 0.1 ms.
    """

    def __init__(self) -> None:
        package = _INSTALLED / "node_modules" / "hyperformula"
        if not package.is_dir():
            npm = ("npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(_INSTALLED), HYPERFORMULA)
            subprocess.run(npm, check=True, timeout=300)
        script = Path(__file__).with_name("hyperformula.cjs")
        self._node = subprocess.Popen(
            ("node", "--max-old-space-size=8192", str(script), str(package)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        weakref.finalize(self, self._node.kill)

    def _ask(self, *order: Any) -> Any:
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps(order).encode() + b"\n")
        self._node.stdin.flush()
        return json.loads(self._node.stdout.readline())

    def put(self, column: int, values: Sequence[Any]) -> None:
        self._ask("put", column, list(values))

    def formulas(self, column: int, texts: Sequence[str]) -> None:
        self._ask("put", column, list(texts))

    def calculate(self) -> None:
        self._ask("calculate")

    def column(self, column: int, rows: int) -> list[Any]:
        return list(self._ask("column", column, rows))


def hyperformula() -> HyperFormula | LeftOut:
    """The peer, or why it is none here."""
    return HyperFormula() if shutil.which("npm") else LeftOut("npm is not installed")


class Formulas:
    """formulas (Python): one formula compiled to a function of its ranges."""

    def __init__(self, text: str) -> None:
        import formulas

        self._function: Any = formulas.Parser().ast(text)[1].compile()

    def __call__(self, *ranges: Any) -> Any:
        return self._function(*ranges)
