"""What a shape of formulas needs before it runs.

What it reads, its program, and its plan for many rows at once.
"""

from __future__ import annotations

from core.formula.columns import plan
from core.formula.language import FormulaError, Node, Structured
from core.formula.machine import compile as compile_tree
from core.formula.values import NAME
from core.recalc.environment import BookEnvironment
from core.recalc.names import BookNames
from core.recalc.reads import Range, Reads, reads_of, resolved
from core.recalc.regions import Read, Region, Shape


def prepare(shape: Shape, environment: BookEnvironment) -> None:
    """Compile a shape when its first cell is to be calculated."""
    shape.ready = True
    shape.value = NAME
    if shape.tree is None:
        return
    try:
        program = compile_tree(shape.tree, arrays=shape.arrays, text=shape.text, unknown_as_name=True)
    except FormulaError as error:
        shape.fault = error.message
        return
    unknown = [name for name, _ in program.unknown if not environment.names.known(name, environment.sheet or "")]
    if unknown:
        shape.unsupported = unknown[0]  # the whole cell is #NAME?: nothing may hide what could not be calculated
        return
    shape.program = program


def look_for_plan(shape: Shape, environment: BookEnvironment) -> None:
    """Give a shape its plan, where it has one, when many of its rows are to be calculated at once."""
    shape.planned = True
    if shape.tree is None or shape.program is None or shape.arrays:
        return
    names, sheet = environment.names, environment.sheet or ""
    shape.plan = plan(shape.tree, text=shape.text, is_fixed_name=lambda scope, name: names.is_fixed(scope, name, sheet))


def resolve(region: Region, environment: BookEnvironment) -> tuple[list[Read], bool]:
    """Return the cells that a region reads, and whether it is volatile.

    Its shape learns whether it is `carried`.
    """
    shape = region.shape
    if shape.data_table is not None:
        return _reads_of_table(region), False
    if shape.tree is None:
        return [], False
    placed = _RegionNames(environment.names, region)
    reads: Reads = shape.reads[0] if shape.reads else reads_of(shape.tree, placed)
    if not reads.placed:
        shape.reads = (reads,)
    shape.carried = reads.external
    return resolved(reads, region, environment.sheet_index), reads.volatile and not shape.carried


def _reads_of_table(region: Region) -> list[Read]:
    """Return what a data table reads.

    The row above it and the column to its left, with its formulas and its input values.
    """
    sheet, top, left = region.cells.index, region.first, region.left
    reads = []
    if top and left:
        reads.append(Read(sheet, left - 1, region.right, top - 1, top - 1, True, True, False))
        reads.append(Read(sheet, left - 1, left - 1, top, region.bottom, True, True, False))
    return reads


class _RegionNames:
    """The names of a book as a region's formula sees them."""

    def __init__(self, names: BookNames, region: Region) -> None:
        self._names, self._region = names, region

    def meaning(self, sheet: str | None, name: str) -> Node | None:
        return self._names.meaning(sheet, name, self._region.cells.name)

    def table_range(self, node: Structured) -> Range | None:
        return self._names.table_range(node, self._region.cells.name, self._region.first, self._region.left)
